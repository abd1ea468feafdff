#include "broker/relay.h"

#include "broker/auth.h"
#include "broker/catalog.h"
#include "broker/inflight.h"
#include "broker/l/session.h"
#include "broker/m/listen.h"
#include "broker/stream.h"
#include "broker/wait.h"
#include "common/event.h"

#include <event2/event.h>

void relay_event(void *arg, const struct store_event *ev)
{
    struct broker *b = arg;

    switch (ev->kind) {
    case STORE_EV_TASK:
        waits_event(b->waits, ev);
        listeners_event(b->listeners, ev);
        break;
    case STORE_EV_CROWDED:
        waits_crowded(b->waits, ev->task.id);
        listeners_crowded(b->listeners, ev->task.id);
        break;
    case STORE_EV_STREAM:
        streams_event(b->streams, ev);
        break;
    case STORE_EV_SESSION_ENDED:
        sessions_drop(b->sessions, ev->session);
        streams_session_ended(b->streams, ev->session);
        break;
    case STORE_EV_CANCEL_REQUEST:
        inflight_cancel(b->inflight, ev->session, ev->request);
        break;
    case STORE_EV_TOOLS:
        catalog_refresh(b->catalog);
        break;
    case STORE_EV_UPDATED:
        listeners_updated(b->listeners, ev->server, ev->uri);
        break;
    case STORE_EV_KEYS:
        auth_forget(b->auth);
        break;
    case STORE_EV_STREAM_TAKEN:
        streams_taken(b->streams, ev->stream);
        break;
    case STORE_EV_STREAM_SILENT:
        streams_silent(b->streams, ev->stream, true);
        break;
    case STORE_EV_STREAM_LEADS:
        streams_silent(b->streams, ev->stream, false);
        break;
    case STORE_EV_WAKE:
    case STORE_EV_CANCEL:
    case STORE_EV_INPUT:
    case STORE_EV_WANTED:
    case STORE_EV_CALLED:
        break; /* for workers */
    }
}

void relay_news(void *arg, enum store_news news, const char *why)
{
    struct broker *b = arg;

    switch (news) {
    case STORE_READY:
        catalog_refresh(b->catalog);
        streams_gap(b->streams);
        waits_gap(b->waits);
        listeners_gap(b->listeners);
        break;
    case STORE_GAP:
        /* Whatever was announced meanwhile is unknown: remembered things are looked up anew. */
        auth_forget(b->auth);
        sessions_forget(b->sessions);
        catalog_refresh(b->catalog);
        streams_gap(b->streams);
        waits_gap(b->waits);
        listeners_gap(b->listeners);
        break;
    case STORE_DOWN:
        break;
    case STORE_REFUSED:
        LOG(LINK_REFUSED, S("redis", b->conf->redis_shown), S("why", why));
        b->failed = true;
        (void)event_base_loopbreak(b->base);
        break;
    }
}

void relay_catalog_changed(void *arg, unsigned what)
{
    static const struct {
        unsigned what;
        const char *method;
    } rows[] = {
        {CATALOG_TOOLS, "notifications/tools/list_changed"},
        {CATALOG_PROMPTS, "notifications/prompts/list_changed"},
        {CATALOG_RESOURCES, "notifications/resources/list_changed"},
    };
    struct broker *b = arg;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((what & rows[i].what) != 0)
            streams_say(b->streams, rows[i].method);
    listeners_changed(b->listeners, what);
}
