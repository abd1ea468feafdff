/* ops.h - a store for one operator command: opened, asked, waited for, closed. */
#pragma once

#include "common/store.h"
#include "deploy/cli/conf.h"

struct ops {
    struct event_base *base;
    struct store *store;
    const struct conf *conf;
    char why[256]; /* of the last DOWN or REFUSED */
    bool down;
    bool refused;
    unsigned pending; /* answers that are still to come */
    enum err e; /* the first failure among them */
};

/* Waits until Redis can be asked. make: an installation that is not there is made, with its
 * secret; else it is only looked at. False, and said so, when Redis cannot be used. */
bool ops_open(struct ops *o, const struct conf *c, bool make);
void ops_close(struct ops *o);

/* Each call to the store is counted by ops_expect() and its callback ends in ops_answer();
 * ops_wait() turns the loop until all are there. EXIT_OK, or what failed has been said. */
void ops_expect(struct ops *o);
void ops_answer(struct ops *o, enum err e);
int ops_wait(struct ops *o);
void ops_turn(struct ops *o); /* the loop, for a moment */
