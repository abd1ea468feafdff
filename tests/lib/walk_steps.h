/* walk_steps.h - the steps of the walk; each makes its calls and tells the model. */
#pragma once

#include "tests/lib/talk.h"
#include "tests/lib/walk.h"

void step_create(struct walk *w);
void step_repeat(struct walk *w); /* an idempotency key again */
void step_get(struct walk *w);
void step_cancel(struct walk *w);
void step_answer(struct walk *w);
void step_session(struct walk *w);

void step_claim(struct walk *w);
void step_finish(struct walk *w);
void step_beat(struct walk *w);
void step_crash(struct walk *w);
void step_retry(struct walk *w);
void step_release(struct walk *w);
void step_unclaim(struct walk *w);
void step_say(struct walk *w); /* a message or a handle */
void step_talk(struct walk *w); /* a question, a log line, progress */
void talk(struct walk *w, struct walk_hold h);

void step_stream(struct walk *w); /* one opens, changes hands, is let go, vanishes */
void step_promote(struct walk *w);

void next_id(const struct walk *w, char out[25]);
struct walk_task *any_task(struct walk *w); /* of the newest; NULL: there is none */
void check_absent(struct walk *w, const struct walk_task *t); /* it must have expired */
