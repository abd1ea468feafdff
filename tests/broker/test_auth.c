#include "broker/auth.h"

#include "common/seal.h"
#include "common/store_key.h"
#include "tests/lib/edge.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct kit kit;
static struct kit_store store;
static struct edge edge;
static struct raw client;
static struct auth *auth;
static struct kit_answer done;
static struct principal found;

static void on_key(void *arg, enum err e, const struct apikey *k)
{
    (void)arg;
    (void)k;
    done.calls++;
    done.e = e;
}

static bool is_held(void *arg)
{
    (void)arg;
    return edge_stats(&edge).held == 1;
}

/* A key, and a request that came with it. */
static bool start(void)
{
    char text[SEAL_KEY_TEXT_LEN + 1];
    char hash[SEAL_HASH_LEN + 1];
    char request[256];
    struct apikey key = {.name = SPAN("ci"), .scopes = SPAN("tools:call")};

    memset(&done, 0, sizeof(done));
    kit_start(&kit, NULL);
    if (!kit_store_open(&store, &kit, (struct store_conf){.partitions = 4, .subscribe = true}))
        return false;
    seal_new_key(text);
    seal_key_hash(hash, store_secret(store.s), span_of(text));
    apikey_add(store.s, &key, span_of(hash), on_key, NULL);
    if (!kit_wait(&kit, &done, 1) || done.e != ERR_OK)
        return false;
    auth = auth_new(kit.base, AUTH_KEY, store.s);
    edge_start(&edge, NULL);
    raw_open(&client, &edge);
    (void)snprintf(request, sizeof(request),
                   "GET /hold HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", text);
    raw_send(&client, request);
    return turn_until(edge.base, 10000, is_held, NULL);
}

static void stop(void)
{
    raw_close(&client);
    edge_stop(&edge);
    kit_store_free(&store);
    auth_free(auth);
    kit_stop(&kit);
}

static void on_principal(void *arg, enum err e, const struct principal *who)
{
    (void)arg;
    done.calls++;
    done.e = e;
    if (e != ERR_OK)
        return;
    found = *who;
    auth_bind(auth, edge.held[0], who);
}

/* Is the answer known at once? Else it is waited for. */
static bool is_remembered(void)
{
    unsigned calls = done.calls;
    enum err e;

    if (auth_check(auth, edge.held[0], &e, &found, on_principal, NULL))
        return e == ERR_OK;
    return !kit_wait(&kit, &done, calls + 1);
}

static bool is_cut(void *arg)
{
    (void)arg;
    (void)event_base_loop(edge.base, EVLOOP_NONBLOCK);
    return edge.gone == 1;
}

TEST(a_key_is_remembered_until_keys_have_changed)
{
    REQUIRE(start());
    CHECK(!is_remembered() && done.e == ERR_OK && strcmp(found.name, "ci") == 0);
    CHECK(is_remembered());
    auth_forget(auth);
    CHECK(!is_remembered() && done.e == ERR_OK);
    stop();
}

/* What Redis answered before the key ended may arrive after the message that it has. */
TEST(a_change_of_keys_that_overtakes_a_look_up_is_not_lost)
{
    enum err e;

    REQUIRE(start());
    REQUIRE(store_is_listening(store.s));
    REQUIRE(!auth_check(auth, edge.held[0], &e, &found, on_principal, NULL));
    auth_forget(auth);
    REQUIRE(kit_wait(&kit, &done, 2) && done.e == ERR_OK);
    apikey_revoke(store.s, SPAN("ci"), on_key, NULL);
    REQUIRE(kit_wait(&kit, &done, 3) && done.e == ERR_OK);
    CHECK(turn_until(kit.base, 10000, is_cut, NULL));
    stop();
}
