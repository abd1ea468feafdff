/* What a fresh link can meet that a healthy Redis never shows: by a Redis that says what it is
 * told to say. */
#include "common/store.h"
#include "common/store_args.h"
#include "tests/lib/fake.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

struct scene {
    struct kit kit; /* only its loop and url */
    struct fake fake;
    const char *info; /* the answer to INFO */
    const char *calls[8]; /* to each FCALL in turn; the last one again and again */
    const char *load;
    unsigned called;
    unsigned loaded;
};

static const char old[] = "$22\r\nredis_version:6.2.14\r\n\r\n";
static const char young[] = "$22\r\nredis_version:7.0.15\r\n\r\n";
static const char valkey[] = "$21\r\nredis_version:7.2.4\r\n\r\n";
static const char booted[] = "*3\r\n$1\r\n1\r\n$43\r\n"
                             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n$1\r\n0\r\n";

static const char *next_answer(struct scene *c)
{
    unsigned n = c->called;

    while (n > 0 && c->calls[n] == NULL)
        n--;
    c->called += c->called < 7;
    return c->calls[n];
}

static void on_command(struct fake_peer *p, const redisReply *command)
{
    struct scene *c = fake_of(p)->arg;
    const char *text = NULL;

    if (fake_greet(p, command))
        return;
    if (fake_is(command, "INFO"))
        text = c->info;
    else if (fake_is(command, "FUNCTION"))
        text = c->load;
    else if (fake_is(command, "FCALL"))
        text = next_answer(c);
    c->loaded += fake_is(command, "FUNCTION");
    if (text != NULL)
        fake_say(p, text);
}

static void scene_start(struct scene *c)
{
    c->kit.base = event_base_new();
    fake_start(&c->fake, c->kit.base);
    c->fake.on_command = on_command;
    c->fake.arg = c;
    c->kit.url = c->fake.url;
}

static void scene_stop(struct scene *c)
{
    fake_stop(&c->fake);
    event_base_free(c->kit.base);
}

static bool is_over(void *arg)
{
    const struct kit_store *p = arg;

    return p->refused > 0 || store_is_ready(p->s);
}

static bool run(struct scene *c, struct kit_store *p)
{
    scene_start(c);
    kit_store_new(p, &c->kit, (struct store_conf){.url = NULL});
    return turn_until(c->kit.base, 10000, is_over, p);
}

TEST(a_server_without_functions_is_refused_by_its_version)
{
    struct scene c = {.info = old};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.refused == 1 && strstr(p.why, "Redis 6.2.14 has no functions") != NULL);
    CHECK(c.called == 0);
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(a_server_without_functions_is_refused_by_its_answer)
{
    struct scene c = {.info = "-ERR unknown command\r\n",
                      .calls = {"-ERR unknown command 'FCALL', with args beginning with: \r\n"}};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.refused == 1 && strstr(p.why, "Redis 7.0 or later") != NULL);
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(valkey_is_welcome)
{
    struct scene c = {.info = valkey, .calls = {booted}};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.ready == 1 && c.loaded == 0);
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(a_redis_that_is_loading_or_busy_is_asked_again)
{
    struct scene c = {.info = young,
                      .calls = {"-LOADING Redis is loading the dataset in memory\r\n",
                                "-BUSY Redis is busy running a script\r\n", booted}};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.ready == 1 && p.refused == 0);
    CHECK(p.down == 2 && strstr(p.why, "BUSY") != NULL);
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(another_process_that_loads_the_library_first_is_as_good)
{
    struct scene c = {.info = young,
                      .calls = {"-ERR Function not found\r\n", booted},
                      .load = "-ERR Library 'errand' already exists\r\n"};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.ready == 1 && c.loaded == 1);
    kit_store_free(&p);
    scene_stop(&c);
}

static bool has_loaded_twice(void *arg)
{
    return ((const struct scene *)arg)->loaded >= 2;
}

TEST(a_library_that_cannot_be_loaded_is_told)
{
    struct scene c = {.info = young,
                      .calls = {"-ERR Function not found\r\n"},
                      .load = "-NOPERM this user has no permissions\r\n"};
    struct kit_store p;

    scene_start(&c);
    kit_store_new(&p, &c.kit, (struct store_conf){.url = NULL});
    CHECK(turn_until(c.kit.base, 10000, has_loaded_twice, &c));
    turn_for(c.kit.base, 100);
    CHECK(p.down == 1 && strstr(p.why, "NOPERM") != NULL);
    CHECK(p.refused == 0);
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(a_record_that_makes_no_sense_is_refused)
{
    struct scene c = {.info = young, .calls = {"*3\r\n$2\r\n99\r\n$0\r\n\r\n$1\r\n0\r\n"}};
    struct kit_store p;

    CHECK(run(&c, &p));
    CHECK(p.refused == 1 && strstr(p.why, "partitions") != NULL);
    kit_store_free(&p);
    scene_stop(&c);
    c = (struct scene){.info = young, .calls = {"*3\r\n$1\r\n1\r\n$3\r\nxyz\r\n$1\r\n0\r\n"}};
    CHECK(run(&c, &p));
    CHECK(p.refused == 1 && strstr(p.why, "secret") != NULL);
    kit_store_free(&p);
    scene_stop(&c);
}

static void on_reply(void *arg, enum err e, const struct redisReply *r)
{
    struct kit_answer *a = arg;

    (void)r;
    a->calls++;
    a->e = e;
}

TEST(what_an_error_means_is_decided_by_its_first_word)
{
    static const struct {
        const char *reply;
        enum err e;
    } rows[] = {
        {"-OOM command not allowed\r\n", ERR_OUT_OF_SPACE},
        {"-LOADING x\r\n", ERR_UNAVAILABLE},
        {"-MISCONF x\r\n", ERR_UNAVAILABLE},
        {"-NOREPLICAS x\r\n", ERR_UNAVAILABLE},
        {"-BUSY x\r\n", ERR_UNAVAILABLE},
        {"-MASTERDOWN x\r\n", ERR_UNAVAILABLE},
        {"-WRONGTYPE x\r\n", ERR_INTERNAL},
        {"-ERR Function not found\r\n", ERR_INTERNAL}, /* even after it was loaded */
        {"-OOMPH x\r\n", ERR_INTERNAL},
        {"-READONLY x\r\n", ERR_UNAVAILABLE}, /* the last: it closes the link */
    };
    struct scene c = {.info = young, .calls = {booted}, .load = "+OK\r\n"};
    struct kit_answer a = {0};
    struct kit_store p;

    REQUIRE(run(&c, &p));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        c.calls[0] = rows[i].reply;
        store_args_send(store_args(p.s, "throttle", 0), on_reply, &a);
        REQUIRE(kit_wait(&c.kit, &a, i + 1));
        CHECK(a.e == rows[i].e);
    }
    kit_store_free(&p);
    scene_stop(&c);
}

TEST(a_call_that_is_never_answered_ends_with_its_link)
{
    struct scene c = {.info = young, .calls = {booted}};
    struct kit_answer a = {0};
    struct kit_store p;

    scene_start(&c);
    kit_store_new(&p, &c.kit, (struct store_conf){.reply_timeout_ms = 2500});
    REQUIRE(turn_until(c.kit.base, 10000, is_over, &p));
    c.calls[0] = NULL;
    store_args_send(store_args(p.s, "throttle", 0), on_reply, &a);
    REQUIRE(kit_wait(&c.kit, &a, 1));
    CHECK(a.e == ERR_UNAVAILABLE && p.down == 1);
    kit_store_free(&p);
    scene_stop(&c);
}
