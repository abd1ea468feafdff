/* hooks.h - callbacks of work that tasks have begun elsewhere: POST /hooks/<task>/<token>.
 *
 * The token is a keyed digest of the task's id, so every broker can check it and none keeps it. A
 * task whose tool also handed out a signing secret has a token of another kind, with which a
 * signature (Standard Webhooks) is asked for. Whatever is wrong with either is 401, whether there
 * is such a task or not. What passes waits in the task for its worker (store_hook.h).
 */
#pragma once

#include "broker/broker.h"

void hooks_serve(struct broker *b, struct http_req *r);
