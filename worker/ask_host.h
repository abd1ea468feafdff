/* ask_host.h - a question that the client makes a task of.
 *
 *     PUT ----CreateTaskResult---> REST <--------working-------- GET
 *      |                            '---the client's interval---^ |
 *      '--the answer itself--> done <---the answer--- RESULT <----' ended, or input_required
 *
 * tasks/get and tasks/result are questions with keys of their own, forgotten once answered, so that
 * any broker carries them and any attempt goes on where the last one was lost. The question itself
 * stays open all the while.
 */
#pragma once

#include "common/span.h"

struct ask;

/* Did the client make a task of it? Then it is REST from now on; else answer is the answer. */
bool ask_host_began(struct ask *a, struct span answer);
/* An answer to GET or RESULT. May end the question. */
void ask_host_heard(struct ask *a, struct span answer);
/* The job waits no longer: the client's task, if there is one, is cancelled if it can be. */
void ask_host_give_up(const struct ask *a);
