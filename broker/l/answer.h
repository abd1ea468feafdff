/* answer.h - what a client answers to a question of a running job, at whichever broker. */
#pragma once

#include "broker/req.h"

/* Takes a request whose message is a response (H-08): 202 once the answer is stored, or when it
 * answers nothing that is asked (any more). Its id names task and question. */
void l_answer(struct req *q);
