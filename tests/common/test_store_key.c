#include "common/store_key.h"

#include "common/clock.h"
#include "common/seal.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

static struct kit kit;
static struct kit_store a;
static struct kit_store b;

static struct {
    struct kit_answer a;
    bool given;
    bool admin;
    uint64_t created_ms;
    uint64_t expires_ms;
    uint64_t older_ms;
    char name[KIT_TEXT];
    char scopes[KIT_TEXT];
    unsigned count;
    char names[8][KIT_TEXT];
} g;

static void on_key(void *arg, enum err e, const struct apikey *k)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.given = k != NULL;
    if (k == NULL)
        return;
    g.admin = k->admin;
    g.created_ms = k->created_ms;
    g.expires_ms = k->expires_ms;
    g.older_ms = k->older_ms;
    kit_copy(g.name, k->name);
    kit_copy(g.scopes, k->scopes);
}

static void on_list(void *arg, enum err e, const struct apikey *keys, size_t count)
{
    (void)arg;
    g.a.calls++;
    g.a.e = e;
    g.count = (unsigned)count;
    for (size_t i = 0; i < count && i < 8; i++)
        kit_copy(g.names[i], keys[i].name);
}

static bool answered(enum err e)
{
    unsigned calls = g.a.calls;

    return kit_wait(&kit, &g.a, calls + 1) && g.a.e == e;
}

static bool start(void)
{
    memset(&g, 0, sizeof(g));
    kit_start(&kit, NULL);
    return kit_store_open(&a, &kit, (struct store_conf){.partitions = 4}) &&
           kit_store_open(&b, &kit, (struct store_conf){.partitions = 0});
}

static void stop(void)
{
    kit_store_free(&a);
    kit_store_free(&b);
    kit_stop(&kit);
}

static bool add(struct apikey k, const char *hash, enum err want)
{
    apikey_add(a.s, &k, span_of(hash), on_key, NULL);
    return answered(want);
}

static bool find(const char *hash, enum err want)
{
    apikey_find(b.s, span_of(hash), on_key, NULL);
    return answered(want);
}

TEST(a_key_is_found_by_its_hash_and_nowhere_readable)
{
    char text[SEAL_KEY_TEXT_LEN + 1];
    char hash[SEAL_HASH_LEN + 1];
    char *dump;

    REQUIRE(start());
    seal_new_key(text);
    seal_key_hash(hash, store_secret(a.s), span_of(text));
    REQUIRE(add(
        (struct apikey){.name = SPAN("ci"), .scopes = SPAN("tools:call tasks:read"), .admin = true},
        hash, ERR_OK));
    REQUIRE(kit_event(&b, STORE_EV_KEYS, NULL) != NULL);
    REQUIRE(find(hash, ERR_OK) && g.given);
    CHECK(strcmp(g.name, "ci") == 0 && strcmp(g.scopes, "tools:call tasks:read") == 0);
    CHECK(g.admin && g.expires_ms == 0);
    CHECK(g.created_ms <= clock_wall_ms() + 1000 && g.created_ms + 60000 > clock_wall_ms());
    dump = kit_redis(&kit, "HGETALL errand:{g}:key:ci");
    CHECK(strstr(dump, text) == NULL && strstr(dump, hash) != NULL);
    free(dump);
    CHECK(find("nosuchhash", ERR_NOT_FOUND) && !g.given);
    stop();
}

TEST(a_name_is_taken_once)
{
    REQUIRE(start());
    REQUIRE(add((struct apikey){.name = SPAN("x"), .scopes = SPAN("")}, "hash1", ERR_OK));
    REQUIRE(add((struct apikey){.name = SPAN("x"), .scopes = SPAN("")}, "hash2", ERR_EXISTS));
    CHECK(find("hash2", ERR_NOT_FOUND));
    stop();
}

TEST(keys_are_listed_by_name)
{
    REQUIRE(start());
    apikey_list(a.s, on_list, NULL);
    REQUIRE(answered(ERR_OK) && g.count == 0);
    REQUIRE(add((struct apikey){.name = SPAN("zoe"), .scopes = SPAN("")}, "h1", ERR_OK));
    REQUIRE(add((struct apikey){.name = SPAN("amy"), .scopes = SPAN("")}, "h2", ERR_OK));
    apikey_list(b.s, on_list, NULL);
    REQUIRE(answered(ERR_OK) && g.count == 2);
    CHECK(strcmp(g.names[0], "amy") == 0 && strcmp(g.names[1], "zoe") == 0);
    stop();
}

TEST(a_revoked_key_is_gone_at_once)
{
    REQUIRE(start());
    REQUIRE(add((struct apikey){.name = SPAN("x"), .scopes = SPAN("")}, "h", ERR_OK));
    REQUIRE(kit_event(&b, STORE_EV_KEYS, NULL) != NULL);
    b.event_count = 0;
    apikey_revoke(a.s, SPAN("x"), on_key, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE(kit_event(&b, STORE_EV_KEYS, NULL) != NULL);
    CHECK(find("h", ERR_NOT_FOUND));
    apikey_revoke(a.s, SPAN("x"), on_key, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    REQUIRE(add((struct apikey){.name = SPAN("x"), .scopes = SPAN("")}, "h9", ERR_OK));
    stop();
}

TEST(B24_a_key_is_rotated_and_the_one_before_goes_on_for_a_while)
{
    struct apikey k = {.name = SPAN("x"), .scopes = {NULL, 0}, .expires_ms = APIKEY_AS_BEFORE};

    REQUIRE(start());
    apikey_rotate(a.s, &k, SPAN("h2"), 60000, on_key, NULL);
    REQUIRE(answered(ERR_NOT_FOUND));
    REQUIRE(
        add((struct apikey){.name = SPAN("x"), .scopes = SPAN("s"), .admin = true}, "h1", ERR_OK));
    b.event_count = 0;
    apikey_rotate(a.s, &k, SPAN("h2"), 60000, on_key, NULL);
    REQUIRE(answered(ERR_OK));
    REQUIRE(kit_event(&b, STORE_EV_KEYS, NULL) != NULL);
    CHECK(g.given && strcmp(g.scopes, "s") == 0 && g.admin && g.expires_ms == 0);
    CHECK(g.older_ms > clock_wall_ms() + 30000);
    CHECK(find("h1", ERR_OK) && g.expires_ms != 0);
    CHECK(find("h2", ERR_OK) && g.expires_ms == 0);
    apikey_rotate(a.s, &k, SPAN("h2"), 60000, on_key, NULL);
    REQUIRE(answered(ERR_EXISTS));
    stop();
}

static bool is_gone(void *arg)
{
    (void)arg;
    apikey_find(b.s, SPAN("h"), on_key, NULL);
    return answered(ERR_NOT_FOUND);
}

TEST(a_key_ends_when_it_expires)
{
    REQUIRE(start());
    REQUIRE(add((struct apikey){.name = SPAN("x"),
                                .scopes = SPAN("s"),
                                .expires_ms = clock_wall_ms() + 4000},
                "h", ERR_OK));
    REQUIRE(find("h", ERR_OK) && g.expires_ms > 0);
    CHECK(wait_for(20000, is_gone, NULL));
    stop();
}

TEST(every_key_call_ends_once_when_redis_dies)
{
    struct apikey k = {.name = SPAN("x"), .scopes = SPAN("")};

    REQUIRE(start());
    test_redis_kill(&kit.redis);
    apikey_add(a.s, &k, SPAN("h"), on_key, NULL);
    apikey_find(a.s, SPAN("h"), on_key, NULL);
    apikey_list(a.s, on_list, NULL);
    apikey_revoke(a.s, SPAN("x"), on_key, NULL);
    REQUIRE(kit_wait(&kit, &g.a, 4));
    CHECK(g.a.e == ERR_UNAVAILABLE && !g.given);
    turn_for(kit.base, 50);
    CHECK(g.a.calls == 4);
    stop();
}
