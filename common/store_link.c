/* The life of a store: its two links, and what its owner is told about them. */
#include "common/clock.h"
#include "common/defer.h"
#include "common/event.h"
#include "common/id.h"
#include "common/lua_library.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/seal.h"
#include "common/store_args.h"
#include "common/store_durable.h"
#include "common/store_inside.h"

#include <assert.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUED_MAX = 64 << 20 }; /* a batch of results has to fit */

static const struct sm_row rows[] = {
    [STORE_S_DOWN] = {"down", SM_TO(STORE_S_BOOTING)},
    [STORE_S_BOOTING] = {"booting",
                         SM_TO(STORE_S_READY) | SM_TO(STORE_S_DOWN) | SM_TO(STORE_S_REFUSED)},
    [STORE_S_READY] = {"ready", SM_TO(STORE_S_DOWN)},
    [STORE_S_REFUSED] = {"refused", 0},
};

static void log_link(const struct store *s, const char *link, const char *why)
{
    struct buf redis;

    buf_init(&redis, 512);
    url_describe(&redis, s->conf.url);
    metric_set(METRIC_REDIS_UP, link, why == NULL);
    if (why == NULL)
        LOG(LINK_UP, S("link", link), SP("redis", buf_span(&redis)));
    else
        LOG(LINK_DOWN, S("link", link), SP("redis", buf_span(&redis)), S("why", why));
    buf_fini(&redis);
}

/* A link that cannot be had is tried for ever, but not told for ever: is this a new reason? */
static bool is_news(char last[static STORE_WHY_MAX], const char *why)
{
    char text[STORE_WHY_MAX]; /* why may be what last points at */

    (void)snprintf(text, sizeof(text), "%s", why != NULL && *why != '\0' ? why : "lost");
    if (strcmp(text, last) == 0)
        return false;
    memcpy(last, text, sizeof(text));
    return true;
}

static void tell(struct store *s, enum store_news news, const char *why)
{
    if (s->on_news != NULL && !s->closing)
        s->on_news(s->arg, news, why);
}

static void tell_gap(struct store *s)
{
    if (!s->gap || !store_is_ready(s) || !store_is_listening(s))
        return;
    s->gap = false;
    tell(s, STORE_GAP, "messages may have been missed");
}

void store_told_ready(struct store *s)
{
    s->why[0] = '\0';
    sm_move(&s->sm, STORE_S_READY);
    if (s->messages != NULL && !store_is_listening(s))
        s->gap = true; /* what is published before we listen is missed */
    log_link(s, "commands", NULL);
    if (s->moved && s->messages != NULL) /* it may listen to the one that was left */
        rds_again(s->messages, "the commands have found another server");
    s->moved = false;
    tell(s, STORE_READY, "");
    tell_gap(s);
}

void store_told_down(struct store *s, const char *why)
{
    if (!is_news(s->why, why))
        return;
    log_link(s, "commands", s->why);
    tell(s, STORE_DOWN, s->why);
}

void store_told_refused(struct store *s, const char *why)
{
    struct buf redis;

    sm_move(&s->sm, STORE_S_REFUSED);
    (void)snprintf(s->why, sizeof(s->why), "%s", why);
    buf_init(&redis, 512);
    url_describe(&redis, s->conf.url);
    LOG(LINK_REFUSED, SP("redis", buf_span(&redis)), S("why", s->why));
    buf_fini(&redis);
    tell(s, STORE_REFUSED, s->why);
}

static void on_commands(void *arg, enum rds_state state, const char *why)
{
    struct store *s = arg;

    if (s->closing || s->sm.state == STORE_S_REFUSED)
        return;
    if (state == RDS_UP && s->sm.state == STORE_S_DOWN) {
        sm_move(&s->sm, STORE_S_BOOTING);
        store_boot_start(s);
    } else if (state == RDS_DOWN) {
        if (s->sm.state != STORE_S_DOWN)
            sm_move(&s->sm, STORE_S_DOWN);
        store_boot_stop(s);
        s->moved = s->moved || strncmp(why, "READONLY", 8) == 0;
        store_told_down(s, why);
    }
}

static void on_messages(void *arg, enum rds_state state, const char *why)
{
    struct store *s = arg;

    if (s->closing)
        return;
    if (state == RDS_UP) {
        s->deaf[0] = '\0';
        log_link(s, "messages", NULL);
        tell_gap(s);
    } else if (state == RDS_DOWN) {
        s->gap = s->gap || s->partitions != 0;
        if (is_news(s->deaf, why))
            log_link(s, "messages", s->deaf);
    }
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    struct store *s = arg;

    (void)fd;
    (void)what;
    if (s->sm.state == STORE_S_BOOTING)
        store_boot_start(s);
}

static char *join(const char *a, const char *b, const char *c)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_adds(&text, a);
    buf_adds(&text, b);
    buf_adds(&text, c);
    assert(buf_ok(&text));
    return buf_take(&text);
}

static void name_keys(struct store *s)
{
    char tag[16];

    for (unsigned p = 0; p < ID_PARTITIONS_MAX; p++) {
        (void)snprintf(tag, sizeof(tag), ":{%u}:", p);
        s->prefixes[p] = join(s->conf.prefix, tag, "");
    }
    s->prefixes[ID_PARTITIONS_MAX] = join(s->conf.prefix, ":{g}:", "");
    s->channel = join(s->conf.prefix, ":ch:", s->conf.self);
    s->channel_all = join(s->conf.prefix, ":all", "");
}

static struct rds *open_link(struct store *s, const char *suffix, rds_state_fn *on_state)
{
    char name[96];
    struct rds_conf conf = {.url = s->conf.url,
                            .name = name,
                            .reply_timeout_ms = s->conf.reply_timeout_ms,
                            .queued_max = QUEUED_MAX};

    (void)snprintf(name, sizeof(name), "errand-%.32s-%.32s%s", s->conf.role, s->conf.self, suffix);
    return rds_new(s->base, &conf, on_state, s);
}

struct store *store_new(struct event_base *base, const struct store_conf *conf,
                        store_news_fn *on_news, store_event_fn *on_event, void *arg)
{
    struct store *s = mem_zalloc(sizeof(*s));

    s->base = base;
    s->conf = *conf;
    s->conf.prefix = mem_strdup(conf->prefix);
    s->conf.self = mem_strdup(conf->self);
    s->conf.role = mem_strdup(conf->role);
    s->on_news = on_news;
    s->on_event = on_event;
    s->arg = arg;
    s->args = store_args_new(s);
    list_init(&s->later);
    list_init(&s->waiting);
    map_init(&s->changes);
    list_init(&s->changes_due);
    list_init(&s->changes_resting);
    s->changes_rested = evtimer_new(base, store_changes_rested, s);
    name_keys(s);
    (void)snprintf(s->functions, sizeof(s->functions), "errand_%s_", lua_library_version);
    sm_init(&s->sm, "store", rows, STORE_S_DOWN);
    metric_set(METRIC_REDIS_UP, "commands", 0);
    s->retry = evtimer_new(base, on_retry, s);
    s->defer = defer_new(base);
    s->commands = open_link(s, "", on_commands);
    if (conf->replicas > 0)
        s->durable = store_durable_new(s, conf->replicas);
    if (conf->subscribe) {
        s->messages = open_link(s, "-sub", on_messages);
        rds_subscribe(s->messages, s->channel, store_on_message, s);
        rds_subscribe(s->messages, s->channel_all, store_on_message, s);
    }
    return s;
}

static void free_change(void *arg, struct map_node *node)
{
    (void)arg;
    free(node);
}

void store_free(struct store *s)
{
    if (s == NULL)
        return;
    s->closing = true;
    if (s->messages != NULL)
        rds_free(s->messages);
    s->messages = NULL;
    rds_free(s->commands);
    store_durable_free(s->durable);
    while (!list_empty(&s->later))
        store_run_later(s);
    map_each(&s->changes, free_change, NULL);
    map_fini(&s->changes);
    event_free(s->changes_rested);
    event_free(s->retry);
    defer_free(s->defer);
    for (size_t i = 0; i < sizeof(s->prefixes) / sizeof(s->prefixes[0]); i++)
        free(s->prefixes[i]);
    free(s->channel);
    free(s->channel_all);
    free((char *)(uintptr_t)s->conf.prefix);
    free((char *)(uintptr_t)s->conf.self);
    free((char *)(uintptr_t)s->conf.role);
    seal_wipe(s->secret, sizeof(s->secret));
    free(s->args);
    free(s);
}

bool store_is_ready(const struct store *s)
{
    return s->sm.state == STORE_S_READY;
}

uint64_t store_since_us(const struct store *s, uint64_t redis_ms)
{
    int64_t us = (int64_t)clock_mono_us() + s->clock_us - (int64_t)redis_ms * 1000;

    return us > 0 ? (uint64_t)us : 0;
}

bool store_is_listening(const struct store *s)
{
    return s->messages != NULL && rds_state(s->messages) == RDS_UP;
}

size_t store_in_flight(const struct store *s)
{
    return rds_in_flight(s->commands);
}

unsigned store_partitions(const struct store *s)
{
    return s->partitions;
}

const unsigned char *store_secret(const struct store *s)
{
    return s->secret_known ? s->secret : NULL;
}

unsigned store_partition_of_owner(const struct store *s, struct span owner)
{
    return s->partitions > 1 ? id_owner_partition(owner, s->partitions) : 0;
}

const char *store_self(const struct store *s)
{
    return s->conf.self;
}

struct span store_prefix(const struct store *s, unsigned partition)
{
    assert(partition == STORE_GLOBAL || partition < ID_PARTITIONS_MAX);
    return span_of(s->prefixes[partition == STORE_GLOBAL ? ID_PARTITIONS_MAX : partition]);
}
