/* rpc.h - the JSON-RPC 2.0 envelope: what a body is, and the answers around a result. */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

enum { RPC_METHOD_MAX = 64 };

struct rpc {
    enum rpc_kind kind;
    struct span id; /* raw, echoed as it came; {NULL, 0} when unreadable */
    char method[RPC_METHOD_MAX]; /* decoded; "" for a response, or when it is too long */
    struct span params; /* raw object, or {NULL, 0} */
    struct span result; /* RESPONSE: one of the two */
    struct span error;
};

/* body has not been looked at before. On failure *why gets one sentence, and m->id is set when it
 * could be read (J-04). All spans point into body. */
enum err rpc_parse(struct rpc *m, struct span body, struct buf *why) MUST_USE;

/* {"jsonrpc":"2.0","id":<id>,"result":<result>} */
void rpc_write_result(struct buf *out, struct span id, struct span result);
/* The id is left out when it is absent. data is raw JSON, or {NULL, 0}. */
void rpc_write_error(struct buf *out, struct span id, int code, struct span message,
                     struct span data);
/* The same around a raw error object. */
void rpc_write_error_raw(struct buf *out, struct span id, struct span error);
void rpc_write_notification(struct buf *out, const char *method, struct span params);
