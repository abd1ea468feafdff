#include "common/clock.h"
#include "deploy/cli/mcp_inside.h"
#include "deploy/cli/stop.h"

enum { AGAIN_MS = 1000, PATIENCE_MS = 2000 };

void mcp_close_ear(struct mcp *m)
{
    if (m->ear.stream != NULL)
        (void)mcp_end(m->ear.stream, NULL, NULL);
    m->ear.stream = NULL;
    m->ear.due_ms = 0;
}

/* A broker that refuses it has none, or knows the session no more. */
void mcp_move_ear(struct mcp *m)
{
    long status;

    if (m->ear.note == NULL || m->session == NULL)
        return;
    if (m->ear.stream == NULL) {
        if (clock_mono_ms() >= m->ear.due_ms)
            m->ear.stream = mcp_begin_get(m, m->ear.note, m->ear.arg);
        return;
    }
    if (!exchange_done(m->ear.stream->x))
        return;
    status = exchange_status(m->ear.stream->x);
    mcp_close_ear(m);
    m->ear.due_ms = status >= 400 && status < 500 ? UINT64_MAX : clock_mono_ms() + AGAIN_MS;
}

static bool is_open(const struct mcp *m)
{
    return m->ear.due_ms != 0 || m->session == NULL ||
           (m->ear.stream != NULL && exchange_status(m->ear.stream->x) != 0);
}

void mcp_hear(struct mcp *m, mcp_note_fn *note, void *arg)
{
    uint64_t end = clock_mono_ms() + PATIENCE_MS;

    m->ear.note = note;
    m->ear.arg = arg;
    mcp_move_ear(m);
    while (!is_open(m) && clock_mono_ms() < end && stop_count() == 0)
        mcp_turn(m, MCP_TURN_MS);
}
