/* line_inside.h - the questions of a line, shared by line.c and line_ask.c only. */
#pragma once

#include "worker/upstream/line.h"

#include <event2/util.h>

/* The call that something belongs to, or NULL: that is not clear. */
struct call *line_whose(const struct line *l, struct span params, uint64_t via);
void line_heard_nothing(void *arg, const struct peer_reply *r);

/* The peer's. */
void line_asked(void *arg, struct span id, const char *method, struct span params, uint64_t via);
/* The server waits for that answer no longer. */
void line_withdraw(struct line *l, struct span id);
/* There are fewer calls: is it clear now whose a question is? */
void line_look_again(struct line *l);
void line_forget_questions(const struct call *c);
void line_free_questions(struct line *l);
void line_on_unclear(evutil_socket_t fd, short what, void *arg);
