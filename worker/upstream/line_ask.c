#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/upstream/line_inside.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { UNCLEAR_MAX = 64, ERROR_MAX = 4096, INTERNAL = -32603, NO_METHOD = -32601 };

struct question {
    struct list node;
    struct call *call; /* NULL: not clear */
    char *id; /* raw */
    char *method;
    char *params; /* NULL: none; kept while it is not clear */
};

static struct question *question_new(struct span id, const char *method, struct span params)
{
    struct question *q = mem_zalloc(sizeof(*q));

    list_init(&q->node);
    q->id = mem_dup(id.p, id.n);
    q->method = mem_strdup(method);
    if (params.p != NULL)
        q->params = mem_dup(params.p, params.n);
    return q;
}

static void question_free(struct question *q)
{
    list_del(&q->node);
    free(q->id);
    free(q->method);
    free(q->params);
    free(q);
}

static void refuse(const struct line *l, struct span id, int code, const char *what)
{
    struct buf answer;

    buf_init(&answer, ERROR_MAX);
    buf_adds(&answer, "{\"error\":");
    result_rpc_error(&answer, code, span_of(what));
    buf_addc(&answer, '}');
    peer_answer(l->peer, id, buf_span(&answer));
    buf_fini(&answer);
}

/* --- whose it is --- */

/* The sink may answer at once, and then it is gone. */
static void give(struct line *l, struct question *q, struct call *c)
{
    struct span params = span_of(q->params);

    list_del(&q->node);
    list_add_tail(&l->questions, &q->node);
    q->call = c;
    if (c->conf.tool != NULL && !l->is_own)
        l->sink->learned(l->arg, l, c->conf.tool);
    c->conf.sink->asked(c->conf.arg, span_of(q->id), span_of(q->method), params);
}

static void watch(struct line *l)
{
    struct timeval in = clock_timeval(LINE_UNCLEAR_MS);

    if (list_empty(&l->unclear))
        (void)event_del(l->timer);
    else if (!event_pending(l->timer, EV_TIMEOUT, NULL))
        (void)event_add(l->timer, &in);
}

static void hold(struct line *l, struct question *q)
{
    list_add_tail(&l->unclear, &q->node);
    watch(l);
}

static bool may_be_asked(const char *method)
{
    return strcmp(method, "elicitation/create") == 0 ||
           strcmp(method, "sampling/createMessage") == 0 || strcmp(method, "roots/list") == 0;
}

static size_t count(const struct list *l)
{
    size_t n = 0;

    for (const struct list *it = l->next; it != l; it = it->next)
        n++;
    return n;
}

void line_asked(void *arg, struct span id, const char *method, struct span params, uint64_t via)
{
    struct line *l = arg;
    struct call *c = line_whose(l, params, via);

    if (!may_be_asked(method))
        refuse(l, id, NO_METHOD, "this client has no such method");
    else if (c != NULL)
        give(l, question_new(id, method, params), c);
    else if (via == 0 && l->calls_n == 0 && strcmp(method, "roots/list") == 0)
        peer_answer(l->peer, id, SPAN("{\"result\":{\"roots\":[]}}")); /* nobody's folders */
    else if (via != 0 || l->calls_n == 0 || count(&l->unclear) >= UNCLEAR_MAX)
        refuse(l, id, INTERNAL, "there is no call that this could belong to");
    else
        hold(l, question_new(id, method, params));
}

void line_look_again(struct line *l)
{
    bool was_unclear = !list_empty(&l->unclear);

    LIST_EACH(&l->unclear, it)
    {
        struct question *q = LIST_OF(it, struct question, node);
        struct call *c = line_whose(l, span_of(q->params), 0);

        if (c != NULL) {
            give(l, q, c);
        } else if (l->calls_n == 0) {
            refuse(l, span_of(q->id), INTERNAL, "the call that asked this has ended");
            question_free(q);
        }
    }
    if (was_unclear)
        watch(l);
}

/* Each of them may have asked: next time they are alone. */
static void learn_all(struct line *l)
{
    LIST_EACH(&l->calls, it)
    {
        const struct call *c = LIST_OF(it, struct call, node);

        if (c->conf.tool != NULL)
            l->sink->learned(l->arg, l, c->conf.tool);
    }
}

void line_on_unclear(evutil_socket_t fd, short what, void *arg)
{
    struct line *l = arg;

    (void)fd;
    (void)what;
    LOG(SERVER_UNCLEAR, S("server", l->server->name), N("calls", l->calls_n));
    learn_all(l);
    LIST_EACH(&l->unclear, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        refuse(l, span_of(q->id), INTERNAL,
               "several calls are under way, and nothing says which of them asks this");
        question_free(q);
    }
    l->sink->freed(l->arg, l);
}

/* --- answers --- */

static struct question *find(const struct list *among, struct span id)
{
    LIST_EACH(among, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        if (span_is(id, q->id))
            return q;
    }
    return NULL;
}

void line_answer(const struct call *c, struct span id, struct span answer)
{
    struct question *q = find(&c->line->questions, id);

    if (q == NULL)
        return;
    peer_answer(c->line->peer, id, answer);
    question_free(q);
}

void line_withdraw(struct line *l, struct span id)
{
    struct question *q = find(&l->questions, id);
    struct call *c = q != NULL ? q->call : NULL;

    if (q == NULL)
        q = find(&l->unclear, id);
    if (c != NULL)
        c->conf.sink->withdrew(c->conf.arg, id);
    if (q != NULL)
        question_free(q);
    watch(l);
}

void line_forget_questions(const struct call *c)
{
    LIST_EACH(&c->line->questions, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        if (q->call != c)
            continue;
        if (peer_is_up(c->line->peer))
            refuse(c->line, span_of(q->id), INTERNAL, "the call that asked this has ended");
        question_free(q);
    }
}

void line_free_questions(struct line *l)
{
    LIST_EACH(&l->questions, it)
    question_free(LIST_OF(it, struct question, node));
    LIST_EACH(&l->unclear, it)
    question_free(LIST_OF(it, struct question, node));
}
