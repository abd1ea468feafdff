/* What the functions cost: Redis' CPU and memory for one task from creation to outcome.
 *
 *     store_bench [--tasks 20000] [--owners 100] [--window 0] [--bytes 256] [--waiters on|off]
 *                 [--batch 16] [-- redis arguments]
 *
 * Creates are pipelined as a broker's are; one worker claims and finishes in batches of 1, 16 and
 * 64. CPU is that of Redis' main thread as INFO tells it, so that what else the machine does hardly
 * counts. Prints one line a batch size. */
#include "tests/lib/moves.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64, BATCH_MAX = 64, BYTES_MAX = 65536 };

struct plan {
    int tasks;
    int owners;
    unsigned window;
    int bytes;
    bool waiters;
    unsigned batch; /* 0: all three */
    const char *const *redis;
};

static double info(struct lua *l, const char *section, const char *field)
{
    const char *at;

    (void)lua_redis(l, "INFO %s", section);
    at = strstr(lua_at(l, ""), field);
    return at != NULL ? strtod(at + strlen(field), NULL) : 0;
}

static double cpu_us(struct lua *l)
{
    return 1e6 * (info(l, "cpu", "used_cpu_sys_main_thread:") +
                  info(l, "cpu", "used_cpu_user_main_thread:"));
}

static double memory(struct lua *l)
{
    return info(l, "memory", "\nused_memory:");
}

static void must(struct lua *l, bool ok)
{
    if (ok)
        return;
    (void)fprintf(stderr, "%s\n", lua_at(l, ""));
    exit(1);
}

static void forget(void *arg, struct redisReply *message)
{
    ++*(int *)arg;
    freeReplyObject(message);
}

static void create(struct lua *l, const struct plan *p, const char *params)
{
    char id[25];
    char owner[17];
    struct new_task t = {.id = id,
                         .owner = owner,
                         .tool = "transcode",
                         .ttl = 600000,
                         .poll = 1000,
                         .max_active = 1000000,
                         .max_running = p->window,
                         .caller = "{\"name\":\"alice\",\"scopes\":[\"tools:call\"]}",
                         .params = params,
                         .bid = p->waiters ? "b1" : NULL};
    int sent = 0;

    for (int read = 0; read < p->tasks; read++) {
        for (; sent < p->tasks && sent - read < DEPTH; sent++) {
            (void)snprintf(id, sizeof(id), "AA%022d", sent);
            (void)snprintf(owner, sizeof(owner), "owner-%010d", sent % p->owners);
            t.priority = (unsigned)sent % 4;
            say_create(l, &t);
            lua_append(l);
        }
        must(l, lua_read(l) && strcmp(lua_at(l, "0"), "OK") == 0);
    }
}

/* The jobs at `path` of the last answer become outcomes. */
static size_t take(struct lua *l, const char *path, struct end *ends, char (*ids)[25],
                   const char *outcome)
{
    size_t n = lua_count(l, path);
    char at[16];

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(at, sizeof(at), "%s%s%u.0", path, path[0] != '\0' ? "." : "", (unsigned)i);
        (void)snprintf(ids[i], 25, "%s", lua_at(l, at));
        at[strlen(at) - 1] = '1';
        ends[i] = (struct end){
            .id = ids[i], .fence = (unsigned)strtoul(lua_at(l, at), NULL, 10), .outcome = outcome};
    }
    return n;
}

static int work(struct lua *l, unsigned batch, const char *outcome)
{
    struct hand h = {.tools = {"transcode"}, .lease = 10000};
    struct end ends[BATCH_MAX];
    char ids[BATCH_MAX][25];
    int done = 0;
    int heard = 0;
    size_t n;

    must(l, move_claim(l, &h, batch));
    for (n = take(l, "", ends, ids, outcome); n > 0; n = take(l, "1", ends, ids, outcome)) {
        must(l, move_finish(l, &h, ends, n, batch) && strcmp(lua_at(l, "0.0"), "OK") == 0);
        done += (int)n;
    }
    lua_hear_each(l, forget, &heard);
    return done;
}

static void measure(struct lua *l, const struct plan *p, unsigned batch)
{
    char *text = malloc((size_t)p->bytes + 1);
    double cpu[3];
    double bytes[3];
    int done;

    memset(text, 'p', (size_t)p->bytes);
    text[p->bytes] = '\0';
    lua_flush(l);
    (void)lua_do(l, "serve", "pl:transcode : p|transcode");
    bytes[0] = memory(l);
    cpu[0] = cpu_us(l);
    create(l, p, text);
    cpu[1] = cpu_us(l);
    bytes[1] = memory(l);
    done = work(l, batch, text);
    cpu[2] = cpu_us(l);
    bytes[2] = memory(l);
    (void)printf(
        "batch %2u: create %6.2f us, claim+finish %6.2f us, together %6.2f us of Redis CPU; "
        "%5.0f bytes waiting, %5.0f bytes finished (%d tasks)\n",
        batch, (cpu[1] - cpu[0]) / p->tasks, (cpu[2] - cpu[1]) / done,
        (cpu[1] - cpu[0]) / p->tasks + (cpu[2] - cpu[1]) / done, (bytes[1] - bytes[0]) / p->tasks,
        (bytes[2] - bytes[0]) / p->tasks, done);
    free(text);
}

static const char *value(int argc, char **argv, int *i)
{
    if (*i + 1 < argc)
        return argv[++*i];
    (void)fprintf(stderr, "%s: what?\n", argv[*i]);
    exit(2);
}

static int number(int argc, char **argv, int *i)
{
    return (int)strtol(value(argc, argv, i), NULL, 10);
}

static struct plan read_plan(int argc, char **argv)
{
    static const char *usual[] = {"--hash-max-listpack-value", "4096", NULL};
    struct plan p = {.tasks = 20000, .owners = 100, .bytes = 256, .waiters = true, .redis = usual};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--tasks") == 0)
            p.tasks = number(argc, argv, &i);
        else if (strcmp(argv[i], "--owners") == 0)
            p.owners = number(argc, argv, &i);
        else if (strcmp(argv[i], "--window") == 0)
            p.window = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--bytes") == 0)
            p.bytes = number(argc, argv, &i);
        else if (strcmp(argv[i], "--waiters") == 0)
            p.waiters = strcmp(value(argc, argv, &i), "off") != 0;
        else if (strcmp(argv[i], "--batch") == 0)
            p.batch = (unsigned)number(argc, argv, &i);
        else if (strcmp(argv[i], "--") == 0) {
            p.redis = (const char *const *)(const void *)(argv + i + 1);
            break;
        }
    }
    return p;
}

int main(int argc, char **argv)
{
    static const unsigned batches[] = {1, 16, 64};
    struct plan p = read_plan(argc, argv);
    static struct lua l;

    lua_start(&l, p.redis);
    (void)lua_redis(&l, "CONFIG SET client-output-buffer-limit %s", "pubsub 0 0 0");
    if (p.waiters)
        lua_listen(&l, "b1");
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++)
        if (p.batch == 0 || p.batch == batches[i])
            measure(&l, &p, batches[i]);
    lua_stop(&l);
    return 0;
}
