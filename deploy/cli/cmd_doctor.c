/* errand doctor: gathers facts from Redis (each of them may be refused), then lets check.c judge
 * them. */
#include "common/clock.h"
#include "common/mem.h"
#include "common/registry.h"
#include "common/store_reply.h"
#include "deploy/cli/check.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/ops.h"
#include "deploy/cli/say.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20 };

struct visit {
    struct ops *o;
    struct check_facts facts;
    char *texts[16]; /* what the facts point into */
    size_t text_count;
    struct table table;
    struct buf json;
    bool bad;
};

static struct span keep(struct visit *v, struct span s)
{
    if (s.p == NULL || v->text_count == sizeof(v->texts) / sizeof(v->texts[0]))
        return (struct span){NULL, 0};
    v->texts[v->text_count] = mem_dup(s.p, s.n);
    return (struct span){v->texts[v->text_count++], s.n};
}

/* A refused question is a fact too: the answer stays absent. */
static void answered(struct visit *v, enum err e)
{
    ops_answer(v->o, e == ERR_INTERNAL ? ERR_OK : e);
}

static void on_info(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;

    if (e == ERR_OK)
        v->facts.info = keep(v, reply_span(r));
    answered(v, e);
}

static void on_config(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;
    const struct {
        const char *name;
        struct span *value;
    } wanted[] = {
        {"appendonly", &v->facts.appendonly},
        {"appendfsync", &v->facts.appendfsync},
        {"maxmemory", &v->facts.maxmemory},
        {"maxmemory-policy", &v->facts.policy},
        {"hash-max-listpack-value", &v->facts.listpack},
        {"client-output-buffer-limit", &v->facts.limits},
        {"timeout", &v->facts.timeout},
    };

    for (size_t i = 0; e == ERR_OK && i + 1 < reply_count(r); i += 2)
        for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++)
            if (span_is(reply_span(reply_at(r, i)), wanted[k].name))
                *wanted[k].value = keep(v, reply_span(reply_at(r, i + 1)));
    answered(v, e);
}

static void on_dry_run(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;

    if (e == ERR_OK)
        v->facts.may_replay = keep(v, reply_span(r));
    answered(v, e);
}

static void on_time(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;
    uint64_t seconds = 0;
    uint64_t us = 0;

    v->facts.our_ms = clock_wall_ms();
    v->facts.redis_ms = v->facts.our_ms;
    if (e == ERR_OK && reply_u64(reply_at(r, 0), &seconds) && reply_u64(reply_at(r, 1), &us))
        v->facts.redis_ms = seconds * 1000 + us / 1000;
    answered(v, e);
}

static void on_libraries(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;

    v->facts.has_library = e == ERR_OK && reply_count(r) > 0;
    answered(v, e);
}

static void on_record(void *arg, enum err e, const struct redisReply *r)
{
    struct visit *v = arg;

    v->facts.is_made = e == ERR_OK && reply_span(r).n > 0;
    answered(v, e);
}

static void on_workers(void *arg, enum err e, const struct registry_worker *w, size_t count)
{
    struct visit *v = arg;

    (void)w;
    v->facts.workers = count;
    answered(v, e);
}

static void ask(struct visit *v, const char *const *words, store_reply_fn *fn)
{
    struct span argv[16];
    size_t n = 0;

    for (; words[n] != NULL; n++)
        argv[n] = span_of(words[n]);
    ops_expect(v->o);
    store_command(v->o->store, n, argv, fn, v);
}

static void ask_record(struct visit *v)
{
    struct buf key;

    buf_init(&key, 256);
    buf_add_span(&key, store_prefix(v->o->store, STORE_GLOBAL));
    buf_adds(&key, "conf");
    ask(v, (const char *const[]){"HGET", key.p, "partitions", NULL}, on_record);
    buf_fini(&key);
}

/* The libraries before the workers, for asking for those loads it. */
static int gather(struct visit *v)
{
    static const char *const info[] = {"INFO", NULL};
    static const char *const dry_run[] = {"ACL", "DRYRUN", "default", "SET", "errand:x", "", NULL};
    static const char *const now[] = {"TIME", NULL};
    static const char *const libraries[] = {"FUNCTION", "LIST", "LIBRARYNAME", "errand_*", NULL};
    static const char *const config[] = {"CONFIG",
                                         "GET",
                                         "appendonly",
                                         "appendfsync",
                                         "maxmemory",
                                         "maxmemory-policy",
                                         "hash-max-listpack-value",
                                         "client-output-buffer-limit",
                                         "timeout",
                                         NULL};

    v->facts.partitions = store_partitions(v->o->store);
    ask(v, info, on_info);
    ask(v, config, on_config);
    ask(v, dry_run, on_dry_run);
    ask(v, now, on_time);
    ask(v, libraries, on_libraries);
    ask_record(v);
    ops_expect(v->o);
    registry_workers(v->o->store, on_workers, v);
    return ops_wait(v->o);
}

static void on_finding(void *arg, enum check_level level, const char *what, const char *found,
                       const char *advice)
{
    static const char *const words[] = {"ok", "note", "CHANGE"};
    static const char *const codes[] = {"ok", "note", "change"};
    struct visit *v = arg;
    struct buf line;

    v->bad = v->bad || level == CHECK_BAD;
    buf_init(&line, 4096);
    buf_adds(&line, found);
    buf_addf(&line, "%s%s", advice[0] != '\0' && found[0] != '\0' ? ": " : "", advice);
    table_adds(&v->table, words[level]);
    table_adds(&v->table, what);
    table_adds(&v->table, line.p);
    buf_fini(&line);
    buf_addf(&v->json, "%s{\"check\":", v->json.n == 0 ? "[" : ",");
    buf_add_json(&v->json, span_of(what));
    buf_addf(&v->json, ",\"verdict\":\"%s\",\"found\":", codes[level]);
    buf_add_json(&v->json, span_of(found));
    buf_adds(&v->json, ",\"advice\":");
    buf_add_json(&v->json, span_of(advice));
    buf_addc(&v->json, '}');
}

int cmd_doctor(const struct conf *c, char **args, size_t count)
{
    struct ops o;
    struct visit v = {.o = &o};
    int status;

    (void)args;
    (void)count;
    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    buf_init(&v.json, TEXT_MAX);
    table_init(&v.table, 3);
    status = gather(&v);
    if (status == EXIT_OK) {
        check_everything(&v.facts, on_finding, &v);
        buf_addc(&v.json, ']');
        status = v.bad ? EXIT_FAILED : EXIT_OK;
        if (c->json)
            say_out(&v.json);
        else
            table_print(&v.table);
    }
    ops_close(&o);
    for (size_t i = 0; i < v.text_count; i++)
        free(v.texts[i]);
    buf_fini(&v.json);
    buf_fini(&v.table.text);
    return status;
}
