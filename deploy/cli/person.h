/* person.h - the person at the terminal: sees how a call goes, and is asked what its job asks.
 *
 * There is one when standard input and standard error are a terminal, and without --no-input.
 */
#pragma once

#include "common/span.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/status.h"

struct person;

/* Who asks on behalf of a job: a broker, or a job of this very process. */
struct person_host {
    /* member is "result" or "error". Not from inside person_new() and person_free(). */
    void (*answer)(void *arg, struct span id, const char *member, struct span value);
    bool (*is_answering)(void *arg); /* an answer may not have arrived */
    void (*listen)(void *arg,
                   int fd); /* person_turn() is wanted when there is input; -1: no more */
    void (*gone)(void *arg); /* the person is */
    void *arg;
};
#define PERSON_CAPABILITIES "{\"elicitation\":{\"form\":{},\"url\":{}}}"

/* stands_in: declines for a person who is not there; else what is asked then is left to others who
 * may answer. what outlives it. */
struct person *person_new(const struct person_host *host, const struct conf *c, const char *what,
                          bool stands_in);
void person_free(struct person *p);
bool person_answers(const struct person *p); /* what is asked is answered, if only declined */
struct status *person_status(struct person *p);
/* A question. False: it is none that a person could answer. */
bool person_asked(void *person, struct span id, struct span method, struct span params);
/* Reads what was typed, and asks the next question: often, at least ten times a second. */
void person_turn(void *person);
/* What a job says: progress, log lines, withdrawn questions. */
void person_note(void *person, struct span method, struct span params);
/* Questions are put one after the other, in the order they came. A broker that was away asks again,
 * under another id and after cancelling the first: the question then goes on where it is, and one
 * whose answer is still on its way is answered the same. */
