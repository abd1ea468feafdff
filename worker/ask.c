#include "worker/ask.h"

#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/ask_check.h"
#include "worker/ask_host.h"
#include "worker/ask_inside.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK_MS = 20 * 1000, /* covers a lost message */
    AGAIN_MS = 1000, /* after a call that Redis did not take */
    PARAMS_MAX = 2 << 20,
    WHY_MAX = 1024,
};

/* A call under way. The question may be gone when it is answered. */
struct call {
    struct asks *all;
    uint64_t no;
};

/* --- asking --- */

static void schedule(struct asks *all);

void ask_key(const struct ask *a, char out[static ASK_KEY_ROOM])
{
    static const char *const tails[] = {
        [ASK_PUT] = "", [ASK_REST] = "", [ASK_GET] = "-g", [ASK_RESULT] = "-r"};

    (void)snprintf(out, ASK_KEY_ROOM, "%.48s%s", a->key, tails[a->stage]);
}

static void got(struct ask *a, struct span answer)
{
    if (a->stage != ASK_PUT)
        ask_host_heard(a, answer);
    else if (!a->is_hosted || !ask_host_began(a, answer))
        ask_finish(a, answer);
}

/* A client of the stateless dialect answers with the bare result. */
static void heard(struct ask *a, struct span answer)
{
    struct buf whole;

    if (json_check_limits(answer, 0, 0, NULL, NULL) != ERR_OK) {
        ask_fail(a, err_rpc(ERR_INTERNAL), "what the client answered cannot be read");
        return;
    }
    if (json_get(answer, "result").p != NULL || json_get(answer, "error").p != NULL) {
        got(a, answer);
        return;
    }
    buf_init(&whole, answer.n + 16);
    buf_adds(&whole, "{\"result\":");
    buf_add_span(&whole, answer);
    buf_addc(&whole, '}');
    got(a, buf_span(&whole));
    buf_fini(&whole);
}

static void lost(struct ask *a, enum store_verdict v)
{
    struct slot *s = a->slot;

    LOG(JOB_LOST, S("tool", s->job.tool->name), S("task", s->job.id), N("attempt", s->job.attempt),
        S("why", "another attempt holds it, or it has ended"));
    slot_drop(s, v == STORE_V_STALE ? RUN_PASSED_ON : RUN_UNWANTED);
}

static struct ask *find(struct asks *all, uint64_t no)
{
    LIST_EACH(&all->list, it)
    {
        struct ask *a = LIST_OF(it, struct ask, among);

        if (a->no == no)
            return a;
    }
    return NULL;
}

static void refused(struct ask *a, enum err e)
{
    if (err_may_retry(e) && e != ERR_LIMIT) {
        a->due_ms = clock_mono_ms() + AGAIN_MS;
    } else if (e == ERR_CONFLICT && a->is_named && a->stage == ASK_PUT) {
        ask_make_key(a); /* an earlier attempt gave that name to something else */
        ask_send(a);
    } else if (e == ERR_LIMIT) {
        ask_end(a, err_rpc(ERR_INTERNAL), "this task has asked too many questions");
    } else {
        ask_end(a, err_rpc(ERR_INTERNAL), "the question could not be put down");
    }
}

static void on_asked(void *arg, enum err e, enum store_verdict v, struct span answer)
{
    struct call *c = arg;
    struct asks *all = c->all;
    struct ask *a = find(all, c->no);

    free(c);
    if (a == NULL)
        return;
    a->is_sent = false;
    if (e != ERR_OK)
        refused(a, e);
    else if (v != STORE_V_OK)
        lost(a, v);
    else if (answer.p != NULL)
        heard(a, answer);
    else if (a->is_news)
        ask_send(a);
    schedule(all);
}

/* params of a look at the client's task */
static void look_params(struct buf *out, const struct ask *a)
{
    buf_init(out, PARAMS_MAX);
    buf_addf(out, "{\"taskId\":%s}", a->task);
}

void ask_send(struct ask *a)
{
    static const char *const looks[] = {[ASK_GET] = "tasks/get", [ASK_RESULT] = "tasks/result"};
    struct store_held held = slot_held(a->slot);
    char key[ASK_KEY_ROOM];
    struct call *c;
    struct buf look;

    a->is_news = a->is_sent;
    if (a->is_sent || a->stage == ASK_REST)
        return;
    a->due_ms = clock_mono_ms() + LOOK_MS;
    if (!store_is_ready(a->all->store))
        return; /* asks_look() comes */
    c = mem_zalloc(sizeof(*c));
    *c = (struct call){a->all, a->no};
    a->is_sent = true;
    ask_key(a, key);
    if (a->stage == ASK_PUT) {
        store_ask(a->all->store, &held, span_of(key), span_of(a->method), buf_span(&a->params),
                  a->is_hosted, on_asked, c);
        return;
    }
    look_params(&look, a);
    store_ask(a->all->store, &held, span_of(key), span_of(looks[a->stage]), buf_span(&look), false,
              on_asked, c);
    buf_fini(&look);
}

/* --- time --- */

static void is_due(struct ask *a, uint64_t now)
{
    if (now >= a->deadline_ms) {
        ask_forget(a);
        ask_end(a, ASK_TIMED_OUT, "nobody has answered in time");
        return;
    }
    if (now < a->due_ms)
        return;
    if (a->stage == ASK_REST)
        a->stage = ASK_GET;
    ask_send(a);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct asks *all = arg;
    uint64_t now = clock_mono_ms();

    (void)fd;
    (void)what;
    LIST_EACH(&all->list, it)
    is_due(LIST_OF(it, struct ask, among), now);
    schedule(all);
}

static void schedule(struct asks *all)
{
    uint64_t now = clock_mono_ms();
    uint64_t due = UINT64_MAX;
    struct timeval in;

    LIST_EACH(&all->list, it)
    {
        const struct ask *a = LIST_OF(it, struct ask, among);

        due = a->due_ms < due ? a->due_ms : due;
        due = a->deadline_ms < due ? a->deadline_ms : due;
    }
    (void)event_del(all->timer);
    if (due == UINT64_MAX)
        return;
    in = clock_timeval(due > now ? due - now : 1);
    (void)event_add(all->timer, &in);
}

/* --- what comes in --- */

static struct asking *asking_of(struct slot *s)
{
    if (s->asking == NULL) {
        s->asking = mem_zalloc(sizeof(*s->asking));
        list_init(&s->asking->open);
    }
    return s->asking;
}

static struct ask *find_id(const struct asking *k, struct span id)
{
    LIST_EACH(&k->open, it)
    {
        struct ask *a = LIST_OF(it, struct ask, node);

        if (span_is(id, a->id))
            return a;
    }
    return NULL;
}

static uint64_t limit_of(const struct slot *s)
{
    return s->ask_ms != 0 ? s->ask_ms : ASK_DEFAULT_MS;
}

/* How it is asked. False: it is too large for that. */
static bool compose(struct buf *out, const struct slot *s, struct span params, bool is_hosted)
{
    bool is_known = s->dialect != 'M' && !s->is_hidden;

    buf_init(out, PARAMS_MAX);
    ask_params(out, params, is_known ? s->job.id : NULL, is_hosted ? limit_of(s) : 0);
    return buf_ok(out);
}

/* Takes over what is sent. */
static void begin(struct asks *all, struct slot *s, struct ask *a, struct span method,
                  const struct buf *sent)
{
    a->all = all;
    a->slot = s;
    a->no = ++all->next;
    (void)snprintf(a->method, sizeof(a->method), "%.*s", (int)method.n, method.p);
    a->params = *sent;
    a->deadline_ms = clock_mono_ms() + limit_of(s);
    list_add_tail(&s->asking->open, &a->node);
    list_add_tail(&all->list, &a->among);
    s->asking->n++;
    ask_make_key(a);
    slot_waits(s, true);
    ask_send(a);
    schedule(all);
}

static void put(struct asks *all, struct slot *s, struct span id, struct span method,
                struct span params)
{
    bool is_hosted = s->dialect != 'M' && ask_is_hosted(s->caps, method);
    struct buf sent;
    struct ask *a;

    if (!compose(&sent, s, params, is_hosted)) {
        buf_fini(&sent);
        ask_refuse(s, id, err_rpc(ERR_INVALID_PARAMS), SPAN("the question is larger than 2 MiB"));
        return;
    }
    a = mem_zalloc(sizeof(*a));
    a->id = mem_dup(id.p, id.n);
    a->is_hosted = is_hosted;
    begin(all, s, a, method, &sent);
}

void asks_asked(struct asks *all, struct slot *s, struct span id, struct span method,
                struct span params)
{
    struct asking *k = asking_of(s);
    struct buf why;
    int code;

    buf_init(&why, WHY_MAX);
    code = ask_check(s->caps, method, params, &why);
    if (find_id(k, id) != NULL)
        ask_refuse(s, id, err_rpc(ERR_INVALID_REQUEST), SPAN("a question with this id is open"));
    else if (code != 0)
        ask_refuse(s, id, code, buf_span(&why));
    else if (k->n >= ASK_OPEN_MAX)
        ask_refuse(s, id, err_rpc(ERR_INTERNAL), SPAN("too many questions are open"));
    else
        put(all, s, id, method, params);
    buf_fini(&why);
}

static void withdraw(struct ask *a)
{
    ask_forget(a);
    ask_free(a);
}

void asks_withdrew(struct asks *all, struct slot *s, struct span id)
{
    if (s->asking == NULL)
        return;
    LIST_EACH(&s->asking->open, it)
    {
        struct ask *a = LIST_OF(it, struct ask, node);

        if (span_is(id, a->id))
            withdraw(a);
    }
    schedule(all);
}

void asks_hushed(struct asks *all, struct slot *s)
{
    struct asking *k = s->asking;

    if (k == NULL)
        return;
    LIST_EACH(&k->open, it)
    ask_free(LIST_OF(it, struct ask, node));
    s->asking = NULL;
    free(k->used);
    free(k);
    schedule(all);
}

void asks_input(struct asks *all, struct span task, struct span key)
{
    LIST_EACH(&all->list, it)
    {
        struct ask *a = LIST_OF(it, struct ask, among);
        char mine[ASK_KEY_ROOM];

        ask_key(a, mine);
        if (span_is(key, mine) && span_is(task, a->slot->job.id))
            ask_send(a);
    }
    schedule(all);
}

void asks_look(struct asks *all)
{
    LIST_EACH(&all->list, it)
    ask_send(LIST_OF(it, struct ask, among));
    schedule(all);
}

struct asks *asks_new(struct event_base *base, struct store *store, struct slots *slots)
{
    struct asks *all = mem_zalloc(sizeof(*all));

    all->store = store;
    all->slots = slots;
    list_init(&all->list);
    all->timer = evtimer_new(base, on_timer, all);
    if (all->timer == NULL)
        abort();
    return all;
}

void asks_free(struct asks *all)
{
    event_free(all->timer);
    free(all);
}
