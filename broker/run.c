#include "broker/run.h"

#include "broker/auth.h"
#include "broker/catalog.h"
#include "broker/door.h"
#include "broker/drain.h"
#include "broker/inflight.h"
#include "broker/janitor.h"
#include "broker/l/session.h"
#include "broker/m/listen.h"
#include "broker/mcp.h"
#include "broker/relay.h"
#include "broker/scrape.h"
#include "broker/stream.h"
#include "broker/wait.h"
#include "broker/watching.h"
#include "common/cfg.h"
#include "common/event.h"
#include "common/otlp.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

/* A page of a list may be larger than the largest result: 12 MiB. */
enum { OUT_OVERHEAD = 64 << 10, OUT_LEAST = 13 << 20 };

static void open_store(struct broker *b)
{
    struct store_conf conf = {
        .url = &b->conf->url,
        .prefix = b->conf->prefix,
        .self = b->self,
        .role = "broker",
        .partitions = (unsigned)b->conf->partitions,
        .secret = b->conf->has_secret ? b->conf->secret : NULL,
        .subscribe = true,
        .replicas = b->conf->replicas,
    };

    id_short(b->self);
    b->store = store_new(b->base, &conf, relay_news, relay_event, b);
}

static void open_parts(struct broker *b)
{
    enum auth_mode mode = strcmp(b->conf->auth, "key") == 0 ? AUTH_KEY : AUTH_NONE;

    b->auth = auth_new(b->base, mode, b->store);
    b->sessions = sessions_new(b->store);
    b->waits = waits_new(b->base, b->store);
    b->inflight = inflight_new(b);
    b->streams = streams_new(b);
    b->listeners = listeners_new(b);
    b->watching = watching_new(b);
    b->catalog = catalog_new(b->base, b->store, b->conf->tool_grace, relay_catalog_changed, b);
    b->janitor = janitor_new(b);
    b->scrape = scrape_new(b);
}

static void close_parts(struct broker *b)
{
    store_free(b->store); /* ends what is outstanding while its callers still exist */
    scrape_free(b->scrape);
    janitor_free(b->janitor);
    catalog_free(b->catalog);
    watching_free(b->watching);
    listeners_free(b->listeners);
    streams_free(b->streams);
    inflight_free(b->inflight);
    waits_free(b->waits);
    sessions_free(b->sessions);
    auth_free(b->auth);
}

static bool open_http(struct broker *b, struct buf *why)
{
    struct http_conf conf = {
        .host = b->conf->host,
        .port = b->conf->port,
        .body_max = b->conf->max_body,
        .keepalive_ms = b->conf->keepalive,
        .stream_max = (size_t)b->conf->max_result + OUT_OVERHEAD,
    };

    b->http = http_new(b->base, &conf, mcp_serve, b, why);
    return b->http != NULL;
}

static void log_started(const struct broker *b)
{
    char listen[300];

    (void)snprintf(listen, sizeof(listen), "%s:%u", b->conf->host, http_port(b->http));
    LOG(STARTED, S("program", "errand-broker"), S("version", ERRAND_VERSION), S("listen", listen),
        S("redis", b->conf->redis_shown));
}

static int serve(struct broker *b, struct buf *why)
{
    struct drain *drain;
    struct door *door;

    if (!open_http(b, why))
        return CFG_EXIT_USAGE;
    log_started(b);
    drain = drain_new(b);
    door = door_new(b);
    (void)event_base_dispatch(b->base);
    door_free(door);
    drain_free(drain);
    http_free(b->http);
    LOG(STOPPED, S("reason", b->failed ? "redis refused" : "drained"));
    return b->failed ? CFG_EXIT_USAGE : CFG_EXIT_OK;
}

static struct event_base *new_base(void)
{
    struct event_config *c = event_config_new();
    struct event_base *base;

    /* Not EPOLL_USE_CHANGELIST: it saves calls, but under load links to Redis that were closed and
     * dialled again in one turn of the loop came back a second late, now and then. */
    (void)event_config_set_flag(c, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(c);
    event_config_free(c);
    return base;
}

static size_t out_max(const struct conf *conf)
{
    size_t results = (size_t)conf->max_result * 2;

    return (results > OUT_LEAST ? results : OUT_LEAST) + OUT_OVERHEAD;
}

int broker_run(const struct conf *conf, struct buf *why)
{
    struct broker b = {.conf = conf};
    int status;

    event_setup_named("errand-broker", conf->log, conf->log_level);
    buf_init(&b.out, out_max(conf));
    b.base = new_base();
    open_store(&b);
    if (conf->otlp != NULL)
        otlp_start(b.base, conf->otlp, "errand-broker", b.self);
    open_parts(&b);
    status = serve(&b, why);
    close_parts(&b);
    otlp_stop();
    event_base_free(b.base);
    buf_fini(&b.out);
    return status;
}
