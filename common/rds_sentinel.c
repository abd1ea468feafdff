#include "common/rds_sentinel.h"

#include "common/clock.h"
#include "common/dial.h"
#include "common/mem.h"
#include "common/rds_command.h"
#include "common/sm.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 256, TEXT_MAX = 128, PULSE_MS = 5000, LOOK_AGAIN_MS = 2000 };

/* ASKING: fn is owed an answer. HEARING: it had one, and the same sentinel is listened to. SEEKING:
 * that one is gone, and another is looked for. */
enum { IDLE, ASKING, HEARING, SEEKING };

enum { FOUND, UNKNOWN, MOVED };

static const struct sm_row rows[] = {
    [IDLE] = {"idle", SM_TO(ASKING)},
    [ASKING] = {"asking", SM_TO(HEARING) | SM_TO(IDLE)},
    [HEARING] = {"hearing", SM_TO(SEEKING) | SM_TO(IDLE)},
    [SEEKING] = {"seeking", SM_TO(HEARING) | SM_TO(IDLE)},
};

struct rds_sentinel {
    struct event_base *base;
    const struct url *url;
    struct url one; /* the one being asked; its texts are the url's */
    uint64_t timeout_ms;
    rds_sentinel_fn *fn;
    rds_moved_fn *moved;
    void *arg;
    struct sm sm;
    char host[TEXT_MAX + 1]; /* what was told last */
    uint16_t port;
    struct dial *dial;
    struct bufferevent *bev;
    redisReader *reader;
    struct event *tell; /* fn or moved, with nothing of ours on the stack: they may free us */
    int news;
    struct event *timer; /* begins, and ends what takes too long */
    size_t at; /* who is asked */
    size_t left; /* how many are not asked yet */
    bool is_open; /* a conversation with that one, or the dial for it */
    bool is_pinged; /* and nothing was heard since */
    unsigned skip; /* answers before the one that counts */
    char why[WHY_MAX];
};

static void ask_next(struct rds_sentinel *s);

static void hang_up(struct rds_sentinel *s)
{
    (void)evtimer_del(s->timer);
    (void)evtimer_del(s->tell);
    dial_stop(s->dial);
    if (s->bev != NULL)
        bufferevent_free(s->bev);
    s->bev = NULL;
    if (s->reader != NULL)
        redisReaderFree(s->reader);
    s->reader = NULL;
    s->is_open = false;
    s->is_pinged = false;
}

static void arm(struct rds_sentinel *s, uint64_t ms)
{
    struct timeval t = clock_timeval(ms);

    if (evtimer_add(s->timer, &t) != 0)
        abort();
}

static void tell(struct rds_sentinel *s, int news)
{
    s->news = news;
    event_active(s->tell, EV_TIMEOUT, 0);
}

static void on_tell(evutil_socket_t fd, short what, void *arg)
{
    struct rds_sentinel *s = arg;

    (void)fd;
    (void)what;
    if (s->news == MOVED)
        s->moved(s->arg);
    else
        s->fn(s->arg, s->news == FOUND ? s->host : NULL, s->port, s->why);
}

/* This one did not help, or not any more: says why, and the next is asked. */
static void give_up(struct rds_sentinel *s, const char *what)
{
    size_t n = strlen(s->why);

    if (s->sm.state == HEARING) {
        sm_move(&s->sm, SEEKING);
        s->left = s->url->sentinel_count;
    } else {
        s->at = (s->at + 1) % s->url->sentinel_count;
    }
    (void)snprintf(s->why + n, sizeof(s->why) - n, "%ssentinel %.64s:%u: %s", n > 0 ? "; " : "",
                   s->one.host, (unsigned)s->one.port, what);
    hang_up(s);
    ask_next(s);
}

/* --- the answer --- */

static bool is_text(const redisReply *r)
{
    return r->type == REDIS_REPLY_STRING && r->len > 0;
}

static bool read_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);

    *port = (uint16_t)v;
    return *end == '\0' && v > 0 && v <= UINT16_MAX;
}

static void take_address(struct rds_sentinel *s, const char *host, uint16_t port)
{
    bool is_asked = s->sm.state == ASKING;
    bool has_moved = strcmp(host, s->host) != 0 || port != s->port;

    (void)snprintf(s->host, sizeof(s->host), "%s", host);
    s->port = port;
    s->why[0] = '\0';
    s->at = (s->at + 1) % s->url->sentinel_count; /* the next time */
    sm_move(&s->sm, HEARING);
    arm(s, PULSE_MS);
    if (is_asked)
        tell(s, FOUND);
    else if (has_moved)
        tell(s, MOVED);
}

static void take_answer(struct rds_sentinel *s, const redisReply *r)
{
    uint16_t port;

    if (r->type == REDIS_REPLY_ERROR)
        give_up(s, r->str);
    else if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 || !is_text(r->element[0]) ||
             !is_text(r->element[1]) || r->element[0]->len > TEXT_MAX ||
             !read_port(r->element[1]->str, &port))
        give_up(s, "it knows no primary of that name");
    else
        take_address(s, r->element[0]->str, port);
}

/* message +switch-master "NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT" */
static void take_message(struct rds_sentinel *s, const redisReply *r)
{
    size_t n = strlen(s->url->master);

    if (r->type == REDIS_REPLY_ARRAY && r->elements == 3 && is_text(r->element[0]) &&
        is_text(r->element[2]) && strcmp(r->element[0]->str, "message") == 0 &&
        strncmp(r->element[2]->str, s->url->master, n) == 0 && r->element[2]->str[n] == ' ')
        tell(s, MOVED);
}

static void take(struct rds_sentinel *s, const redisReply *r)
{
    s->is_pinged = false;
    if (s->skip > 0)
        s->skip--; /* a sentinel without a password refuses AUTH, and answers all the same */
    else if (s->sm.state == HEARING)
        take_message(s, r);
    else
        take_answer(s, r);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct rds_sentinel *s = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    char bytes[4096];
    int n;

    while ((n = evbuffer_remove(in, bytes, sizeof(bytes))) > 0)
        (void)redisReaderFeed(s->reader, bytes, (size_t)n);
    while (s->bev == bev) {
        void *reply = NULL;

        if (redisReaderGetReply(s->reader, &reply) != REDIS_OK) {
            give_up(s, "it does not speak Redis's protocol");
            return;
        }
        if (reply == NULL)
            return;
        take(s, reply);
        freeReplyObject(reply);
    }
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    char why[160];

    dial_explain(bev, what, why, sizeof(why));
    give_up(arg, why);
}

/* --- the question --- */

static void send_words(struct rds_sentinel *s, size_t argc, const struct span *argv)
{
    size_t n = rds_command_size(argc, argv);
    char *text = mem_alloc(n);
    char *at = rds_command_head(text, argc);

    for (size_t i = 0; i < argc; i++)
        at = rds_command_word(at, argv[i], (struct span){NULL, 0});
    assert((size_t)(at - text) == n);
    if (bufferevent_write(s->bev, text, n) != 0)
        abort();
    explicit_bzero(text, n);
    free(text);
}

static void on_dialled(void *arg, struct bufferevent *bev, const char *why)
{
    struct rds_sentinel *s = arg;
    const struct url *url = s->url;
    const struct span question[] = {SPAN("SENTINEL"), SPAN("GET-MASTER-ADDR-BY-NAME"),
                                    span_of(url->master)};
    const struct span listen[] = {SPAN("SUBSCRIBE"), SPAN("+switch-master")};

    if (bev == NULL) {
        give_up(s, why);
        return;
    }
    s->bev = bev;
    s->reader = redisReaderCreate();
    if (s->reader == NULL)
        abort();
    bufferevent_setcb(bev, on_read, NULL, on_event, s);
    (void)bufferevent_enable(bev, EV_READ | EV_WRITE);
    s->skip = url->password != NULL;
    if (url->password != NULL && url->user != NULL)
        send_words(s, 3, (struct span[]){SPAN("AUTH"), span_of(url->user), span_of(url->password)});
    else if (url->password != NULL)
        send_words(s, 2, (struct span[]){SPAN("AUTH"), span_of(url->password)});
    /* Together, so that no move slips between the answer and the messages. */
    send_words(s, 3, question);
    send_words(s, 2, listen);
}

static void ask_next(struct rds_sentinel *s)
{
    if (s->left == 0 && s->sm.state == ASKING) {
        sm_move(&s->sm, IDLE);
        tell(s, UNKNOWN);
        return;
    }
    if (s->left == 0) {
        s->left = s->url->sentinel_count;
        s->why[0] = '\0';
        arm(s, clock_jitter(LOOK_AGAIN_MS, 25));
        return;
    }
    s->left--;
    s->one.host = s->url->sentinels[s->at].host;
    s->one.port = s->url->sentinels[s->at].port;
    s->is_open = true;
    arm(s, s->timeout_ms);
    dial_start(s->dial);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    static const struct span ping[] = {{"PING", 4}};
    struct rds_sentinel *s = arg;

    (void)fd;
    (void)what;
    if (!s->is_open) {
        ask_next(s);
    } else if (s->sm.state == HEARING && !s->is_pinged) {
        s->is_pinged = true;
        send_words(s, 1, ping);
        arm(s, PULSE_MS);
    } else {
        give_up(s, "no answer in time");
    }
}

/* --- life --- */

struct rds_sentinel *rds_sentinel_new(struct event_base *base, const struct url *url,
                                      uint64_t timeout_ms, rds_sentinel_fn *fn, rds_moved_fn *moved,
                                      void *arg)
{
    struct rds_sentinel *s = mem_zalloc(sizeof(*s));

    assert(url->sentinel_count > 0);
    s->base = base;
    s->url = url;
    s->one = (struct url){.tls = url->tls, .ca_file = url->ca_file};
    s->timeout_ms = timeout_ms;
    s->fn = fn;
    s->moved = moved;
    s->arg = arg;
    sm_init(&s->sm, "sentinel", rows, IDLE);
    s->dial = dial_new(base, &s->one, timeout_ms, on_dialled, s);
    s->timer = evtimer_new(base, on_timer, s);
    s->tell = evtimer_new(base, on_tell, s);
    if (s->timer == NULL || s->tell == NULL)
        abort();
    return s;
}

void rds_sentinel_free(struct rds_sentinel *s)
{
    if (s == NULL)
        return;
    hang_up(s);
    dial_free(s->dial);
    event_free(s->timer);
    event_free(s->tell);
    free(s);
}

void rds_sentinel_ask(struct rds_sentinel *s)
{
    rds_sentinel_stop(s);
    s->why[0] = '\0';
    s->left = s->url->sentinel_count;
    sm_move(&s->sm, ASKING);
    arm(s, 0);
}

void rds_sentinel_stop(struct rds_sentinel *s)
{
    hang_up(s);
    if (s->sm.state != IDLE)
        sm_move(&s->sm, IDLE);
}
