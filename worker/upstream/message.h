/* message.h - JSON-RPC messages to and from a wrapped server. */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_METHOD_ROOM = 64, MESSAGE_MAX = 64 << 20 };

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTICE, MESSAGE_RESULT, MESSAGE_ERROR };

struct message {
    enum message_kind kind;
    char method[MESSAGE_METHOD_ROOM]; /* of a request or a notice */
    struct span id; /* raw; {NULL, 0}: a notice, or an error without one */
    struct span params; /* raw, or {NULL, 0} */
    struct span value; /* the raw result, or error */
};

/* Spans into text. False: it is no message; *why is a static sentence. */
bool message_read(struct message *m, struct span text, const char **why);

/* Each in one line without its end; params may be {NULL, 0}. */
void message_request(struct buf *out, uint64_t number, const char *method, struct span params);
void message_notice(struct buf *out, const char *method, struct span params);
/* answer: {"result":...} or {"error":...} */
void message_answer(struct buf *out, struct span id, struct span answer);
/* JSON between tokens of which there may be line ends, in one line. */
void message_add_flat(struct buf *out, struct span json);
