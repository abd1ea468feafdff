/* talk.h - the socket on which a command and its worker talk (wire.h). */
#pragma once

#include "common/span.h"
#include "worker/run.h"

struct event_base;
struct talk;

/* *theirs: the command's end, to be closed by the caller once it is started. NULL: there are no
 * descriptors left, errno says so. The sink is told only on later turns of the loop. */
struct talk *talk_open(struct event_base *base, const struct run_sink *sink, struct run_job *job,
                       int *theirs);
void talk_answer(struct talk *t, struct span id, struct span answer);
/* The command has ended: what it has said and nobody has heard is told to the sink now. */
void talk_hear_out(struct talk *t);
void talk_free(struct talk *t);
