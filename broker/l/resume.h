/* resume.h - GET with Last-Event-ID: a broken stream goes on here, whoever had it (H-24).
 *
 *     l_resume -> on_resumed -> a GET stream                        exactly what it missed
 *                            -> a call's or result's stream         that, then its answer
 *                            -> nothing known of it                 a fresh GET stream
 */
#pragma once

#include "broker/broker.h"
#include "broker/principal.h"

/* Consumes http, a fresh or held GET of that session. last: the header's value. */
void l_resume(struct broker *b, struct http_req *http, const struct principal *who,
              const char *session, bool tasks, const char *last);
