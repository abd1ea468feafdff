/* local_inside.h - a run of one tool, shared by local.c and local_talk.c only. */
#pragma once

#include "deploy/cli/local.h"
#include "deploy/cli/person.h"
#include "worker/runners.h"
#include "worker/watch.h"

struct local {
    struct event_base *base;
    struct roster roster;
    struct slots *slots;
    struct watch *watch;
    struct runners runners;
    struct person *person;
    struct event *typed; /* input at the terminal */
    struct event *turn;
    struct tools declared; /* in the file; the roster also has what wrapped servers offer */
    const char *name; /* of the tool to be run */
    struct span arguments;
    uint64_t deadline_ms; /* for the tool to be there */
    bool is_taken;
    struct slot *settling; /* its outcome is known */
    struct mcp_reply *reply;
    struct buf *why;
    char id[ID_LEN + 1];
    unsigned stops;
    enum mcp_end end;
    bool over;
};

/* What the job tells and asks (slots.h), and what the person answers (person.h). arg is the struct.
 */
void local_said(void *arg, struct slot *s, struct span message, struct span progress);
void local_logged(void *arg, struct slot *s, struct span level, struct span logger,
                  struct span data);
void local_asked(void *arg, struct slot *s, struct span id, struct span method, struct span params);
void local_withdrew(void *arg, struct slot *s, struct span id);
void local_answer(void *arg, struct span id, const char *member, struct span value);
