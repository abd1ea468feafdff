#include "tests/lib/bench.h"

#include "common/clock.h"
#include "common/id.h"
#include "tests/lib/proc.h"

#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char owner[] = "AAAAAAAAAAAAAAAA";

static void die(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(2);
}

static void on_news(void *arg, enum store_news news, const char *why)
{
    (void)arg;
    if (news == STORE_REFUSED)
        die(why);
}

static void on_event(void *arg, const struct store_event *ev)
{
    const struct bench *b = arg;

    if (b->on_event != NULL)
        b->on_event(b->arg, ev);
}

static bool is_ready(void *arg)
{
    const struct bench *b = arg;

    return store_is_ready(b->store) && store_is_listening(b->store);
}

static void turn_until_ready(struct bench *b)
{
    if (!turn_until(b->base, 10000, is_ready, b))
        die("the store is not ready");
}

static bool is_down(void *arg)
{
    const struct bench *b = arg;

    return !store_is_ready(b->store);
}

void bench_redis_goes(struct bench *b)
{
    freeReplyObject(redisCommand(b->redis.c, "SAVE"));
    test_redis_kill(&b->redis);
    if (!turn_until(b->base, 10000, is_down, b))
        die("the store still thinks it is ready");
}

void bench_redis_comes(struct bench *b)
{
    test_redis_restart(&b->redis);
    turn_until_ready(b);
}

void bench_start(struct bench *b, unsigned partitions)
{
    struct store_conf conf = {
        .prefix = "errand", .self = "bench000", .role = "bench", .subscribe = true};
    struct buf why;

    memset(b, 0, sizeof(*b));
    test_redis_start(&b->redis, NULL);
    buf_init(&why, 1000);
    if (url_parse(&b->url, b->redis.url, &why) != ERR_OK)
        die("the url of the test's redis");
    buf_fini(&why);
    conf.url = &b->url;
    conf.partitions = partitions;
    b->base = event_base_new();
    b->store = store_new(b->base, &conf, on_news, on_event, b);
    turn_until_ready(b);
}

void bench_stop(struct bench *b)
{
    if (b->store != NULL)
        store_free(b->store);
    event_base_free(b->base);
    url_fini(&b->url);
    test_redis_stop(&b->redis);
}

struct answer {
    bool there;
    enum err e;
    struct bench_task *t;
};

static size_t keep(char *out, size_t room, struct span s)
{
    size_t n = s.n < room - 1 ? s.n : room - 1;

    if (n > 0)
        memcpy(out, s.p, n);
    out[n] = '\0';
    return n;
}

static void on_answer(void *arg, enum err e, const struct store_result *r)
{
    struct answer *a = arg;

    a->there = true;
    a->e = e;
    if (a->t == NULL || e != ERR_OK)
        return;
    a->t->found = true;
    a->t->state = r->task.state;
    a->t->is_error = r->task.is_error;
    a->t->updated_ms = r->task.updated_ms;
    (void)keep(a->t->message, sizeof(a->t->message), r->task.message);
    (void)keep(a->t->progress, sizeof(a->t->progress), r->task.progress);
    (void)keep(a->t->outcome, sizeof(a->t->outcome), r->task.outcome);
    a->t->outcome_n = r->task.outcome.n;
}

static bool is_there(void *arg)
{
    const struct answer *a = arg;

    return a->there;
}

static enum err wait_answer(struct bench *b, struct answer *a)
{
    if (!turn_until(b->base, 10000, is_there, a))
        die("no answer from the store");
    return a->e;
}

const char *bench_create(struct bench *b, const struct bench_create *c)
{
    static char ids[64][ID_LEN + 1];
    static unsigned next;
    char *id = ids[next++ % 64];
    char params[65536];
    struct store_create create = {.owner = SPAN("AAAAAAAAAAAAAAAA"),
                                  .tool = span_of(c->tool),
                                  .priority = TASK_NORMAL,
                                  .ttl_ms = c->ttl_ms != 0 ? c->ttl_ms : 60000,
                                  .attempts = c->attempts != 0 ? c->attempts : 3,
                                  .dialect = c->dialect != 0 ? c->dialect : 'L',
                                  .hidden = c->hidden,
                                  .ask_ms = c->ask_ms,
                                  .caps = span_of(c->caps),
                                  .token = span_of(c->token),
                                  .session = span_of(c->session),
                                  .stream = span_of(c->stream),
                                  .trace = span_of(c->trace),
                                  .caller = span_of(c->caller)};
    struct answer a = {0};

    id_new(id, store_partition_of_owner(b->store, create.owner));
    (void)snprintf(params, sizeof(params), "{\"name\":\"%s\",\"arguments\":%s}", c->tool,
                   c->arguments != NULL ? c->arguments : "{}");
    create.id = span_of(id);
    create.params = span_of(c->params != NULL ? c->params : params);
    store_create(b->store, &create, on_answer, &a);
    if (wait_answer(b, &a) != ERR_OK)
        die(err_text(a.e));
    return id;
}

const char *bench_call(struct bench *b, const char *tool, const char *arguments)
{
    return bench_create(b, &(struct bench_create){.tool = tool, .arguments = arguments});
}

bool bench_read(struct bench *b, const char *id, struct bench_task *t)
{
    struct store_get get = {
        .id = span_of(id), .owner = span_of(owner), .outcome = true, .hidden_too = true};
    struct answer a = {.t = t};

    memset(t, 0, sizeof(*t));
    store_get(b->store, &get, on_answer, &a);
    return wait_answer(b, &a) == ERR_OK;
}

bool bench_ended(struct bench *b, const char *id, unsigned ms, struct bench_task *t)
{
    uint64_t end = clock_mono_ms() + ms;

    do {
        if (bench_read(b, id, t) && task_is_terminal(t->state))
            return true;
        turn_for(b->base, 5);
    } while (clock_mono_ms() < end);
    return false;
}

bool bench_cancel(struct bench *b, const char *id)
{
    struct answer a = {0};

    store_cancel(b->store, span_of(id), span_of(owner), 0, false, on_answer, &a);
    return wait_answer(b, &a) == ERR_OK;
}

static struct {
    bool there;
    unsigned n;
    char key[128];
    char params[8192];
} questions;

static void on_questions(void *arg, enum err e, const struct store_question *q, size_t count)
{
    (void)arg;
    (void)q;
    questions.there = true;
    questions.n = e == ERR_OK ? (unsigned)count : 0;
}

static bool has_questions(void *arg)
{
    (void)arg;
    return questions.there;
}

/* Is that question unanswered, and of that method? Then it is kept. */
static bool is_asked(struct bench *b, const char *id, const char *key, const char *method)
{
    size_t n = strlen(method);
    char field[160];
    const char *text;

    (void)snprintf(field, sizeof(field), "a:%s", key);
    if (*bench_field(b, id, field) != '\0')
        return false;
    field[0] = 'q';
    text = bench_field(b, id, field);
    if (strlen(text) < n + 3 || strncmp(text + 2, method, n) != 0 || text[n + 2] != '\n')
        return false;
    (void)keep(questions.key, sizeof(questions.key), span_of(key));
    (void)keep(questions.params, sizeof(questions.params), span_of(text + n + 3));
    return true;
}

/* As the record has them: a broker lists those alone that anybody may answer. */
static bool find_question(struct bench *b, const char *id, const char *method)
{
    char keys[8192];
    char *rest = keys;
    char *key;

    (void)snprintf(keys, sizeof(keys), "%s", bench_field(b, id, "io"));
    while ((key = strsep(&rest, "\n")) != NULL)
        if (*key != '\0' && is_asked(b, id, key, method))
            return true;
    return false;
}

const char *bench_question(struct bench *b, const char *id, const char *method, unsigned ms)
{
    uint64_t end = clock_mono_ms() + ms;

    do {
        if (find_question(b, id, method))
            return questions.key;
        turn_for(b->base, 5);
    } while (clock_mono_ms() < end);
    return NULL;
}

const char *bench_params(void)
{
    return questions.params;
}

unsigned bench_questions(struct bench *b, const char *id)
{
    questions.there = false;
    store_questions(b->store, span_of(id), span_of(owner), on_questions, NULL);
    if (!turn_until(b->base, 10000, has_questions, NULL))
        die("no answer from the store");
    return questions.n;
}

bool bench_answer(struct bench *b, const char *id, const char *key, const char *answer)
{
    struct answer a = {0};

    store_answer(b->store, span_of(id), span_of(owner), SPAN(""), span_of(key), span_of(answer),
                 on_answer, &a);
    return wait_answer(b, &a) == ERR_OK;
}

const char *bench_field(struct bench *b, const char *id, const char *field)
{
    static char text[65536];
    unsigned partition = 0;
    redisReply *r;

    (void)id_parse(span_of(id), store_partitions(b->store), &partition);
    r = redisCommand(b->redis.c, "HGET errand:{%u}:t:%s %s", partition, id, field);
    if (r == NULL || r->type != REDIS_REPLY_STRING) {
        freeReplyObject(r);
        return "";
    }
    (void)snprintf(text, sizeof(text), "%s", r->str);
    freeReplyObject(r);
    return text;
}
