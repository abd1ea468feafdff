#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/mcp_inside.h"
#include "deploy/cli/stop.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PATIENCE_MS = 120000,
    SILENT_MS = 1000,
    SERVED_PART = 8,
    BACKOFF_MIN_MS = 100,
    BACKOFF_MAX_MS = 3000
};

struct mcp *mcp_new(const char *url, const char *key)
{
    struct mcp *m = mem_zalloc(sizeof(*m));

    m->wire = wire_new(url, key);
    m->patience_ms = PATIENCE_MS;
    list_init(&m->outbox);
    return m;
}

void mcp_set_patience(struct mcp *m, uint64_t ms)
{
    m->patience_ms = ms;
}

void mcp_set_peer(struct mcp *m, const struct mcp_peer *peer)
{
    m->peer = *peer;
}

bool mcp_has_tasks(const struct mcp *m)
{
    return m->has_tasks;
}

bool mcp_has_list(const struct mcp *m)
{
    return m->has_list;
}

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

static bool take_version(struct mcp *m, struct span result, struct buf *why)
{
    struct span version = json_get(result, "protocolVersion");
    struct span tasks = json_get(json_get(result, "capabilities"), "tasks");
    struct span call = json_get(json_get(json_get(tasks, "requests"), "tools"), "call");

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        if (json_is(version, versions[i])) {
            (void)snprintf(m->version, sizeof(m->version), "%s", versions[i]);
            m->has_tasks = i == 0 && json_type(call) == JSON_OBJECT;
            m->has_list = i == 0 && json_type(json_get(tasks, "list")) == JSON_OBJECT;
            return true;
        }
    }
    buf_adds(why, "the broker speaks a revision of MCP that this program does not know");
    return false;
}

static void forget(struct mcp *m)
{
    free(m->session);
    m->session = NULL;
    m->version[0] = '\0';
}

static void wait_for(struct mcp *m, const struct mcp_request *r)
{
    unsigned stops = stop_count();

    while (!mcp_is_done(r) && stop_count() == stops)
        mcp_turn(m, MCP_TURN_MS);
}

static struct mcp_request *initialize(struct mcp *m)
{
    struct mcp_request *r;
    struct buf params;

    buf_init(&params, 4096);
    buf_adds(&params, "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":");
    buf_adds(&params, m->peer.capabilities != NULL ? m->peer.capabilities : "{}");
    buf_adds(&params, ",\"clientInfo\":{\"name\":\"errand\",\"version\":\"" ERRAND_VERSION "\"}}");
    r = mcp_begin(m, "initialize", buf_span(&params), NULL, NULL);
    buf_fini(&params);
    return r;
}

enum mcp_end mcp_open(struct mcp *m, struct buf *why)
{
    struct mcp_request *r;
    struct mcp_reply reply;
    char session[256] = "";
    enum mcp_end end;

    mcp_close_ear(m);
    mcp_drop_outbox(m); /* what an ended session was to be told */
    forget(m);
    mcp_reply_init(&reply);
    r = initialize(m);
    wait_for(m, r);
    if (r->x != NULL)
        (void)snprintf(session, sizeof(session), "%s", exchange_session(r->x));
    end = mcp_end(r, &reply, why);
    if (end == MCP_RESULT && !take_version(m, reply.value, why))
        end = MCP_BROKEN;
    if (end == MCP_RESULT) {
        m->session = session[0] != '\0' ? mem_strdup(session) : NULL;
        m->opened++;
        mcp_notify(m, "notifications/initialized", (struct span){NULL, 0});
    }
    mcp_reply_fini(&reply);
    return end;
}

void mcp_free(struct mcp *m)
{
    struct wire_head head;
    struct exchange *x;

    if (m == NULL)
        return;
    m->ear.note = NULL;
    mcp_close_ear(m);
    mcp_drop_outbox(m);
    head = mcp_head(m);
    if (m->session != NULL && m->answered) {
        x = wire_start(m->wire, &head, (struct span){NULL, 0}, NULL, NULL);
        while (!exchange_done(x)) /* it has a time limit of its own */
            wire_turn(m->wire, MCP_TURN_MS);
        exchange_end(x);
    }
    forget(m);
    wire_free(m->wire);
    free(m);
}

/* --- patience --- */

/* False: more than those stops have been asked for. */
static bool pause_ms(struct mcp *m, uint64_t ms, unsigned stops)
{
    uint64_t end = clock_mono_ms() + ms;

    for (uint64_t now = clock_mono_ms(); now < end && stop_count() == stops; now = clock_mono_ms())
        mcp_turn(m, end - now < MCP_TURN_MS ? (unsigned)(end - now) : MCP_TURN_MS);
    return stop_count() == stops;
}

static enum mcp_end call_once(struct mcp *m, const char *method, struct span params,
                              mcp_note_fn *note, void *arg, struct mcp_reply *reply,
                              struct buf *why)
{
    struct mcp_request *r;
    unsigned stops = stop_count();

    buf_reset(why);
    reply->retry_s = 0;
    reply->begun = false;
    if (m->version[0] == '\0') {
        enum mcp_end end = mcp_open(m, why);

        if (end != MCP_RESULT)
            return end;
    }
    r = mcp_begin(m, method, params, note, arg);
    wait_for(m, r);
    if (stop_count() != stops && note != NULL && !mcp_is_done(r)) {
        struct buf cancel;

        buf_init(&cancel, 256);
        buf_addf(&cancel, "{\"requestId\":%s}", r->id);
        mcp_notify(m, "notifications/cancelled", buf_span(&cancel));
        buf_fini(&cancel);
    }
    return mcp_end(r, reply, why);
}

struct patience {
    uint64_t alone; /* since when there is no broker that serves us */
    uint64_t backoff;
    uint64_t wait; /* before the next try */
    bool said;
};

/* After a try that began then and can be made again. False: it has been long enough. */
static bool go_on(const struct mcp *m, struct patience *t, uint64_t began,
                  const struct mcp_reply *reply)
{
    uint64_t now = clock_mono_ms();

    if (reply->begun && now - began >= m->patience_ms / SERVED_PART) {
        t->alone = now;
        t->backoff = BACKOFF_MIN_MS;
    }
    t->wait = reply->retry_s != 0 ? (uint64_t)reply->retry_s * 1000 : t->backoff;
    t->backoff = t->backoff * 2 < BACKOFF_MAX_MS ? t->backoff * 2 : BACKOFF_MAX_MS;
    if (now - t->alone + t->wait > m->patience_ms)
        return false;
    if (!t->said && now - t->alone > SILENT_MS) {
        t->said = true;
        (void)fputs("errand: no answer yet, trying again for two minutes\n", stderr);
    }
    return true;
}

enum mcp_end mcp_call(struct mcp *m, const char *method, struct span params, mcp_note_fn *note,
                      void *arg, struct mcp_reply *reply, struct buf *why)
{
    struct patience t = {.alone = clock_mono_ms(), .backoff = BACKOFF_MIN_MS};
    unsigned stops = stop_count(); /* one that comes between two tries counts too */

    for (;;) {
        uint64_t began = clock_mono_ms();
        enum mcp_end end = call_once(m, method, params, note, arg, reply, why);

        if (end == MCP_GONE)
            forget(m);
        else if ((end != MCP_LOST && end != MCP_BUSY) || !m->answered)
            return end;
        if (!go_on(m, &t, began, reply))
            return end;
        if (!pause_ms(m, t.wait, stops))
            return MCP_STOPPED;
    }
}
