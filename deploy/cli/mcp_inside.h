/* mcp_inside.h - what the parts of mcp share; nobody else includes it.
 *
 * mcp_request.c sends requests and reads answers; mcp_ear.c keeps the session's own stream open;
 * mcp_session.c opens and closes sessions, and is patient.
 */
#pragma once

#include "common/list.h"
#include "deploy/cli/mcp.h"
#include "deploy/cli/wire.h"

#include <stdint.h>

enum { MCP_TURN_MS = 100 };

struct mcp {
    struct wire *wire;
    char *session; /* NULL: none was given */
    char version[16];
    unsigned opened; /* how often: tells the sessions apart */
    uint64_t next_id;
    bool has_tasks;
    bool has_list;
    uint64_t patience_ms;
    bool answered; /* the broker has been reached once */
    struct list outbox; /* our answers to the broker's requests */
    struct mcp_peer peer;
    struct { /* the session's GET stream */
        struct mcp_request *stream;
        mcp_note_fn *note; /* NULL: it is not wanted */
        void *arg;
        uint64_t due_ms;
    } ear;
};

struct mcp_request {
    struct mcp *m;
    struct exchange *x;
    unsigned opened; /* of m, when this was sent */
    char id[24];
    mcp_note_fn *note;
    void *arg;
    struct mcp_reply reply;
    enum mcp_end end;
    bool has_answer;
    bool broken;
};

struct wire_head mcp_head(const struct mcp *m);
void mcp_drop_outbox(struct mcp *m); /* what was not sent yet stays unsaid */
/* A GET: never has an answer, but messages. */
struct mcp_request *mcp_begin_get(struct mcp *m, mcp_note_fn *note, void *arg);
void mcp_move_ear(struct mcp *m);
void mcp_close_ear(struct mcp *m); /* its session ends: the next one gets another */
