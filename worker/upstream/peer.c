#include "worker/upstream/peer.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/list.h"
#include "common/mem.h"
#include "common/sm.h"
#include "worker/upstream/http.h"
#include "worker/upstream/message.h"
#include "worker/upstream/stdio.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { ODD_MAX = 10, SAID_MAX = 4 << 20, VERSION_ROOM = 32, CLOSE_MS = 2000 };

enum state { OPENING, UP, GONE };

static const struct sm_row rows[] = {
    [OPENING] = {"opening", SM_TO(UP) | SM_TO(GONE)},
    [UP] = {"up", SM_TO(GONE)},
    [GONE] = {"gone", 0},
};

struct waiting {
    struct list node;
    uint64_t number;
    peer_reply_fn *fn;
    void *arg;
};

struct peer {
    struct tool_server *server;
    const struct peer_sink *sink;
    void *arg;
    struct transport *transport;
    struct sm sm;
    struct list waiting;
    uint64_t last;
    struct event *timer; /* the handshake's */
    struct buf said; /* the result of initialize */
    char version[VERSION_ROOM];
    char *why; /* it was closed for this */
    unsigned odd;
};

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

/* --- what is sent --- */

static void transmit(const struct peer *p, const struct buf *message, uint64_t number)
{
    if (p->sm.state != GONE)
        p->transport->send(p->transport, buf_span(message), number);
}

uint64_t peer_next(const struct peer *p)
{
    return p->last + 1;
}

void peer_request(struct peer *p, const char *method, struct span params, peer_reply_fn *fn,
                  void *arg)
{
    struct waiting *w = mem_zalloc(sizeof(*w));
    struct buf message;

    *w = (struct waiting){.number = ++p->last, .fn = fn, .arg = arg};
    list_add_tail(&p->waiting, &w->node);
    buf_init(&message, MESSAGE_MAX);
    message_request(&message, w->number, method, params);
    transmit(p, &message, w->number);
    buf_fini(&message);
}

void peer_notify(struct peer *p, const char *method, struct span params)
{
    struct buf message;

    buf_init(&message, MESSAGE_MAX);
    message_notice(&message, method, params);
    transmit(p, &message, 0);
    buf_fini(&message);
}

void peer_answer(struct peer *p, struct span id, struct span answer)
{
    struct buf message;

    buf_init(&message, MESSAGE_MAX);
    message_answer(&message, id, answer);
    transmit(p, &message, 0);
    buf_fini(&message);
}

/* --- who waits --- */

static struct waiting *find(const struct peer *p, uint64_t number)
{
    LIST_EACH(&p->waiting, it)
    {
        struct waiting *w = LIST_OF(it, struct waiting, node);

        if (w->number == number)
            return w;
    }
    return NULL;
}

static void reply(struct waiting *w, const struct peer_reply *r)
{
    list_del(&w->node);
    w->fn(w->arg, r);
    free(w);
}

static struct waiting *find_id(const struct peer *p, struct span id)
{
    int64_t number;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &number) || number <= 0)
        return NULL;
    return find(p, (uint64_t)number);
}

void peer_pass_on(struct peer *p, uint64_t number, peer_reply_fn *fn, void *arg)
{
    struct waiting *w = find(p, number);

    if (w == NULL)
        return;
    w->fn = fn;
    w->arg = arg;
}

void peer_forget(struct peer *p, uint64_t number)
{
    struct waiting *w = find(p, number);

    if (w == NULL)
        return;
    list_del(&w->node);
    free(w);
    p->transport->forget(p->transport, number);
}

/* --- the handshake --- */

static void fail(struct peer *p, const char *why)
{
    if (p->why == NULL)
        p->why = mem_strdup(why);
    p->transport->close(p->transport, CLOSE_MS);
}

static bool agrees(struct peer *p, struct span version)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (json_is(version, versions[i]))
            return json_string(version, p->version, sizeof(p->version)) > 0;
    return false;
}

static void on_initialized(void *arg, const struct peer_reply *r)
{
    struct peer *p = arg;

    if (r->outcome == PEER_ERROR) {
        fail(p, "it refuses the handshake with an error");
        return;
    }
    if (r->outcome != PEER_RESULT) {
        if (p->sm.state == OPENING)
            fail(p, r->why != NULL ? r->why : "its answer to the handshake is too long");
        return;
    }
    if (!agrees(p, json_get(r->value, "protocolVersion"))) {
        fail(p, "it speaks no revision of MCP that this worker knows: 2025-11-25, 2025-06-18, "
                "2025-03-26, 2024-11-05");
        return;
    }
    buf_add_span(&p->said, r->value);
    if (!buf_ok(&p->said)) {
        fail(p, "its answer to the handshake is larger than 4 MiB");
        return;
    }
    (void)event_del(p->timer);
    p->transport->agreed(p->transport, p->version);
    sm_move(&p->sm, UP);
    peer_notify(p, "notifications/initialized", (struct span){NULL, 0});
    p->sink->up(p->arg);
}

static void initialize(struct peer *p)
{
    static const char params[] =
        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{\"form\":{},"
        "\"url\":{}},\"sampling\":{\"context\":{},\"tools\":{}},\"roots\":{}},\"clientInfo\":{"
        "\"name\":\"errand-worker\",\"version\":\"" ERRAND_VERSION "\"}}";
    struct timeval in = clock_timeval(p->server->start_ms);

    (void)event_add(p->timer, &in);
    peer_request(p, "initialize", span_of(params), on_initialized, p);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    fail(arg, "it has not answered the handshake within its startTimeout");
}

/* --- what is heard --- */

static void on_request(struct peer *p, const struct message *m, uint64_t via)
{
    static const char unready[] =
        "{\"error\":{\"code\":-32600,\"message\":\"the handshake is not over\"}}";

    if (strcmp(m->method, "ping") == 0)
        peer_answer(p, m->id, SPAN("{\"result\":{}}"));
    else if (p->sm.state == UP)
        p->sink->asked(p->arg, m->id, m->method, m->params, via);
    else
        peer_answer(p, m->id, span_of(unready));
}

static void odd(struct peer *p, const char *why)
{
    if (p->odd++ < ODD_MAX)
        LOG(SERVER_ODD, S("server", p->server->name), S("why", why));
}

static void on_answer(struct peer *p, const struct message *m)
{
    struct waiting *w = find_id(p, m->id);

    if (w == NULL) {
        if (m->id.p == NULL)
            odd(p, "it has answered with an error that names no request");
        return; /* one that is not waited for any more */
    }
    p->transport->forget(p->transport, w->number); /* it was the last on its stream */
    reply(w, &(struct peer_reply){
                 .outcome = m->kind == MESSAGE_ERROR ? PEER_ERROR : PEER_RESULT,
                 .value = m->value,
             });
}

static void hear(struct peer *p, struct span text, uint64_t via)
{
    struct message m;
    const char *why = "";

    if (!message_read(&m, text, &why))
        odd(p, why);
    else if (m.kind == MESSAGE_REQUEST)
        on_request(p, &m, via);
    else if (m.kind == MESSAGE_NOTICE)
        p->sink->noticed(p->arg, m.method, m.params, via);
    else
        on_answer(p, &m);
}

/* One revision lets a server send several messages as one. */
static bool is_batch(const struct peer *p, struct span text)
{
    return strcmp(p->version, "2025-03-26") == 0 && json_type(text) == JSON_ARRAY &&
           json_check_limits(text, 0, 0, NULL, NULL) == ERR_OK;
}

static void on_heard(void *arg, struct span text, uint64_t via)
{
    struct peer *p = arg;
    size_t cursor = 0;
    struct span none;
    struct span one;

    if (!is_batch(p, text))
        hear(p, text, via);
    else
        while (json_next(text, &cursor, &none, &one))
            hear(p, one, via);
}

static void on_missed(void *arg, struct span id)
{
    struct peer *p = arg;
    struct waiting *w = find_id(p, id);

    odd(p, "a message was longer than 24 MiB and was not taken");
    if (w != NULL)
        reply(w, &(struct peer_reply){.outcome = PEER_TOO_LONG});
}

static void on_failed(void *arg, uint64_t number, bool sent, const char *why)
{
    struct waiting *w = find(arg, number);

    if (w != NULL)
        reply(w, &(struct peer_reply){.outcome = sent ? PEER_LOST : PEER_UNSENT, .why = why});
}

static void on_gone(void *arg, const char *said)
{
    struct peer *p = arg;
    char *why = p->why != NULL ? p->why : mem_strdup(said);

    p->why = NULL;
    (void)event_del(p->timer);
    sm_move(&p->sm, GONE);
    while (!list_empty(&p->waiting))
        /* Who is freed is off the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        reply(LIST_OF(p->waiting.next, struct waiting, node),
              &(struct peer_reply){.outcome = PEER_LOST, .why = why});
    p->sink->gone(p->arg, why);
    free(why);
}

static const struct transport_sink sink = {
    .heard = on_heard, .missed = on_missed, .failed = on_failed, .gone = on_gone};

/* --- its life --- */

bool peer_is_up(const struct peer *p)
{
    return p->sm.state == UP;
}

struct span peer_capabilities(const struct peer *p)
{
    struct span c = json_get(buf_span(&p->said), "capabilities");

    return json_type(c) == JSON_OBJECT ? c : SPAN("{}");
}

const char *peer_version(const struct peer *p)
{
    return p->version;
}

void peer_close(struct peer *p, uint64_t grace_ms)
{
    p->transport->close(p->transport, grace_ms);
}

struct peer *peer_open(const struct peer_world *world, struct tool_server *server,
                       const struct run_job *job, const struct peer_sink *its, void *arg)
{
    struct peer *p = mem_zalloc(sizeof(*p));

    p->server = tool_server_hold(server);
    p->sink = its;
    p->arg = arg;
    list_init(&p->waiting);
    buf_init(&p->said, SAID_MAX);
    sm_init(&p->sm, "peer", rows, OPENING);
    p->timer = evtimer_new(world->base, on_timer, p);
    if (p->timer == NULL)
        abort();
    if (server->url != NULL)
        p->transport = http_open(world->fetcher, world->base, server, &sink, p);
    else
        p->transport = stdio_open(world->children, server, job, &sink, p);
    initialize(p);
    return p;
}

void peer_free(struct peer *p)
{
    p->transport->free(p->transport);
    LIST_EACH(&p->waiting, it)
    free(LIST_OF(it, struct waiting, node));
    event_free(p->timer);
    buf_fini(&p->said);
    tool_server_let_go(p->server);
    free(p->why);
    free(p);
}
