#include "tests/lib/hand.h"

#include "common/clock.h"
#include "common/mem.h"
#include "tests/lib/proc.h"

#include <stdio.h>
#include <stdlib.h>

static struct hand *hand; /* of the one test that runs */

static void start(struct runner *r, struct run_job *job)
{
    (void)r;
    if (hand->started < HAND_MAX)
        hand->jobs[hand->started] = job;
    hand->started++;
}

static void stop(struct runner *r, struct run_job *job, uint64_t grace_ms)
{
    (void)r;
    (void)job;
    hand->stops++;
    hand->stop_grace_ms = grace_ms;
}

static void kept(struct runner *r, struct run_job *job)
{
    (void)r;
    (void)job;
    hand->kept++;
}

static void on_keep(void *arg, struct slot *s, struct span handle)
{
    (void)arg;
    if (hand->on_keep != NULL)
        hand->on_keep(hand->arg, s, handle);
    else
        slot_kept(s);
}

static void on_settling(void *arg, struct slot *s)
{
    (void)arg;
    hand->settled++;
    hand->settling = s;
    if (hand->on_settling != NULL)
        hand->on_settling(hand->arg, s);
}

static void on_free(void *arg)
{
    (void)arg;
    hand->freed++;
    if (hand->on_free != NULL)
        hand->on_free(hand->arg);
}

static void on_taken(void *arg)
{
    (void)arg;
    if (hand->on_taken != NULL)
        hand->on_taken(hand->arg);
}

static void on_said(void *arg, struct slot *s, struct span message, struct span progress)
{
    (void)arg;
    hand->said++;
    if (hand->on_said != NULL)
        hand->on_said(hand->arg, s, message, progress);
}

void hand_open(struct hand *h, unsigned count, const char *more)
{
    struct slots_conf conf = {.count = count,
                              .tools = &h->tools,
                              .on_settling = on_settling,
                              .on_free = on_free,
                              .on_taken = on_taken,
                              .on_said = on_said,
                              .on_keep = on_keep};
    char text[1024];
    struct buf why;

    memset(h, 0, sizeof(*h));
    hand = h;
    buf_init(&why, 4096);
    (void)snprintf(text, sizeof(text), "{\"name\":\"run\",\"inputSchema\":{\"type\":\"object\"}%s}",
                   more);
    if (!tools_add_text(&h->tools, text, NULL, &why)) {
        (void)fprintf(stderr, "hand: %s\n", buf_span(&why).p);
        exit(2);
    }
    buf_fini(&why);
    h->runner = (struct runner){.sink = &slots_sink, .start = start, .stop = stop, .kept = kept};
    h->slots = slots_new(&conf);
    slots_runner(h->slots, TOOL_HANDLER, &h->runner);
}

void hand_close(struct hand *h)
{
    slots_free(h->slots);
    tools_fini(&h->tools);
}

struct slot *hand_take(struct hand *h, const char *id, uint64_t fence, uint64_t ttl_ms)
{
    const struct store_job job = {
        .id = span_of(id),
        .fence = fence,
        .attempt = 1,
        .attempts = 3,
        .ttl_ms = ttl_ms,
        .tool = SPAN("run"),
        .params = SPAN("{\"arguments\":{\"a\":1}}"),
        .caller = SPAN("{\"name\":\"bob\"}"),
        .trace = SPAN("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")};

    slots_take(h->slots, &job, 0, clock_mono_ms());
    return slots_find(h->slots, job.id, fence);
}

/* A claim under way. */
struct claiming {
    struct hand *h;
    unsigned partition;
    unsigned came;
    bool is_over;
};

static void on_claimed(void *arg, enum err e, const struct store_job *jobs, size_t count)
{
    struct claiming *c = arg;

    if (e != ERR_OK) {
        (void)fprintf(stderr, "hand: a claim failed: %s\n", err_text(e));
        exit(2);
    }
    for (size_t i = 0; i < count; i++)
        slots_take(c->h->slots, &jobs[i], c->partition, clock_mono_ms());
    c->came = (unsigned)count;
    c->is_over = true;
}

static bool is_over(void *arg)
{
    return ((struct claiming *)arg)->is_over;
}

unsigned hand_claim(struct hand *h, struct bench *b, unsigned partition, unsigned n)
{
    static const struct span tool = {"run", 3};
    static const struct store_worker self = {.wid = {"bench000", 8},
                                             .pool = {"pool", 4},
                                             .tools = &tool,
                                             .tool_count = 1,
                                             .lease_ms = 10000};
    struct claiming c = {.h = h, .partition = partition};

    store_claim(b->store, partition, &self, n, on_claimed, &c);
    if (!turn_until(b->base, 20000, is_over, &c)) {
        (void)fprintf(stderr, "hand: no answer to a claim\n");
        exit(2);
    }
    return c.came;
}

void hand_end(struct hand *h, unsigned job, const char *result, bool is_error)
{
    struct run_job *j = h->jobs[job];
    const struct run_end end = {
        .is_error = is_error, .result = mem_strdup(result), .n = strlen(result)};

    h->jobs[job] = NULL;
    slots_sink.ended(j, &end);
}

void hand_end_error(struct hand *h, unsigned job, const char *error)
{
    struct run_job *j = h->jobs[job];
    const struct run_end end = {.rpc_error = true, .result = mem_strdup(error), .n = strlen(error)};

    h->jobs[job] = NULL;
    slots_sink.ended(j, &end);
}

void hand_fail(struct hand *h, unsigned job, const char *why)
{
    struct run_job *j = h->jobs[job];
    const struct run_end end = {.passing = true, .why = why};

    h->jobs[job] = NULL;
    slots_sink.ended(j, &end);
}
