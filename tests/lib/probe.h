/* probe.h - one Redis link under test, and what it told. */
#pragma once

#include "common/rds.h"

struct probe {
    struct event_base *base;
    struct rds *link;
    unsigned ups;
    unsigned downs;
    char why[256]; /* of the newest DOWN */
    unsigned sent;
    unsigned ok; /* answers, errors of Redis among them */
    unsigned errors; /* answers that are errors of Redis */
    unsigned unavailable;
    unsigned resend; /* commands to send again from inside a failure */
    bool free_on_failure;
    bool inside; /* rds_send() is on the stack */
    char last[128];
};

/* name "test", the rest of more, which may be NULL. */
void probe_open(struct probe *p, struct event_base *base, const struct url *url,
                const struct rds_conf *more);
void probe_close(struct probe *p);
void probe_send(struct probe *p, size_t n, const struct span *words);
void probe_say(struct probe *p, const char *word); /* a command of one word */
/* For turn_until(). */
bool probe_is_up(void *arg);
bool probe_was_down(void *arg);
bool probe_is_answered(void *arg); /* every command sent has ended */
