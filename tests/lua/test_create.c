#include "tests/lib/moves.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(a_new_task_is_recorded_listed_queued_and_answered_as_a_row)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(
        l, &(struct new_task){
               .id = ID(1), .priority = 2, .poll = 500, .session = "s", .params = "{\"a\":1}"}));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_count(l, "1") == 16);
    CHECK(lua_is(l, "1.0", ID(1)));
    CHECK(lua_is(l, "1.1", "w"));
    CHECK(lua_is(l, "1.2", ""));
    CHECK(lua_is(l, "1.3", "t"));
    CHECK(lua_is(l, "1.4", "L"));
    CHECK(lua_is(l, "1.8", "500"));
    CHECK(lua_is(l, "1.9", "1"));
    CHECK(lua_is(l, "1.10", "1"));
    CHECK(lua_is(l, "1.13", "t"));
    CHECK(lua_is(l, "1.14", "s"));
    CHECK(lua_is(l, "1.15", "nil"));
    CHECK(is_at(l, ID(1), "ready"));
    CHECK(lua_int(l, "ZSCORE %so:%s %s", l->T, OWNER, ID(1)) == 1);
    CHECK(lua_int(l, "ZSCORE %six %s%s", l->T, ID(1), OWNER) > 0);
    CHECK(field_is(l, ID(1), "p", "{\"a\":1}"));
}

TEST(the_answered_row_is_the_one_that_is_read)
{
    struct lua *l = lua_fresh();
    char said[16][64];
    char path[8];

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .poll = 7, .dialect = 'M'}));
    for (int i = 0; i < 15; i++) {
        (void)snprintf(path, sizeof(path), "1.%d", i);
        (void)snprintf(said[i], sizeof(said[i]), "%s", lua_at(l, path));
    }
    REQUIRE(move_get(l, ID(1), OWNER, ""));
    for (int i = 0; i < 15; i++) {
        (void)snprintf(path, sizeof(path), "%d", i);
        CHECK(lua_is(l, path, said[i]));
    }
}

TEST(empty_fields_are_not_stored)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .token = "0"}));
    CHECK(field_is(l, ID(1), "sl", "nil"));
    CHECK(field_is(l, ID(1), "ll", "nil"));
    CHECK(field_is(l, ID(1), "ak", "nil"));
    CHECK(field_is(l, ID(1), "ss", "nil"));
    CHECK(field_is(l, ID(1), "wb", "nil"));
    CHECK(field_is(l, ID(1), "pi", "nil"));
    CHECK(field_is(l, ID(1), "L", "nil"));
    CHECK(field_is(l, ID(1), "pt", "0"));
}

TEST(what_is_for_the_job_to_speak_with_is_kept)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(
        l, &(struct new_task){.id = ID(1), .stream = "call-1", .level = "debug", .ask_ms = 5000}));
    CHECK(field_is(l, ID(1), "sl", "call-1"));
    CHECK(field_is(l, ID(1), "ll", "debug"));
    CHECK(field_is(l, ID(1), "ak", "5000"));
    CHECK(lua_int(l, "EXISTS %ssm:call-1", l->T) == 0);
}

TEST(the_record_expires_by_itself_with_its_ttl)
{
    struct lua *l = lua_fresh();
    long long expires;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .ttl = 5000}));
    expires = strtoll(lua_at(l, "1.7"), NULL, 10);
    CHECK(expires - strtoll(lua_at(l, "1.5"), NULL, 10) == 5000);
    CHECK(lua_int(l, "PEXPIRETIME %st:%s", l->T, ID(1)) == expires);
}

TEST(a_ready_list_lives_as_long_as_its_last_task)
{
    struct lua *l = lua_fresh();
    const long long hour = 3600000;
    int64_t xp;

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .ttl = 5000}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .ttl = 3 * hour}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .ttl = 5000}));
    xp = lua_int(l, "HGET %st:%s xp", l->T, ID(2));
    CHECK(lua_int(l, "PEXPIRETIME %srq:t:0", l->T) >= xp);
    CHECK(lua_int(l, "PEXPIRETIME %srq:t:0", l->T) <= xp + hour);
}

TEST(a_repeated_id_is_found_and_charges_nothing)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .rate = 10}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .rate = 10, .bid = "b1"}));
    CHECK(lua_is(l, "0", "DUP"));
    CHECK(lua_is(l, "1.0", ID(1)));
    CHECK(field_is(l, ID(1), "wb", "b1"));
    CHECK(lua_int(l, "LLEN %srq:t:0", l->T) == 1);
}

TEST(an_id_of_another_owner_is_a_conflict)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .owner = OTHER}));
    CHECK(lua_is(l, "0", "CONFLICT"));
    CHECK(field_is(l, ID(1), "o", OWNER));
    CHECK(lua_int(l, "EXISTS %so:%s %soa:%s", l->T, OTHER, l->T, OTHER) == 0);
}

TEST(an_idempotency_key_finds_the_first_task_as_long_as_it_lives)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .idem = "key", .digest = "args", .bid = "b1"};

    REQUIRE(move_create(l, &t));
    CHECK(lua_int(l, "PEXPIRETIME %sim:%s:key", l->T, OWNER) ==
          lua_int(l, "PEXPIRETIME %st:%s", l->T, ID(1)));
    t.id = ID(2);
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "DUP"));
    CHECK(lua_is(l, "1.0", ID(1)));
    t.digest = "other args";
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "CONFLICT"));
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
    t.owner = OTHER;
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "OK"));
    (void)lua_redis(l, "DEL %st:%s", l->T, ID(1));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .idem = "key", .digest = "new"}));
    CHECK(lua_is(l, "0", "OK"));
}

TEST(a_repeat_that_waits_gets_the_outcome_and_one_that_shows_lists_the_task)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .hidden = true, .idem = "k", .digest = "d", .bid = "b1"};

    REQUIRE(move_create(l, &t));
    CHECK(lua_int(l, "EXISTS %so:%s", l->T, OWNER) == 0);
    CHECK(strcmp(move_end(l, ID(1), move_take(l, ID(1)), "{\"r\":1}"), "OK") == 0);
    t.id = ID(2);
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "1.15", "{\"r\":1}"));
    CHECK(lua_is(l, "1.3", "c"));
    t.hidden = false;
    t.bid = NULL;
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "DUP"));
    CHECK(lua_is(l, "1.3", "t"));
    CHECK(lua_is(l, "1.15", "nil"));
    CHECK(lua_int(l, "ZCARD %so:%s", l->T, OWNER) == 1);
    CHECK(field_is(l, ID(1), "wb", "nil"));
}

TEST(over_the_limit_nothing_is_made)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .max_active = 1};

    REQUIRE(move_create(l, &t));
    t.id = ID(2);
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "LIMIT"));
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
    t.owner = OTHER;
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "OK"));
}

TEST(over_the_rate_nothing_is_made_and_the_wait_is_told)
{
    struct lua *l = lua_fresh();
    struct new_task t = {.id = ID(1), .rate = 10};

    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "OK"));
    t.id = ID(2);
    REQUIRE(move_create(l, &t));
    CHECK(lua_is(l, "0", "RATE"));
    CHECK(strtol(lua_at(l, "1"), NULL, 10) > 90000);
    CHECK(strtol(lua_at(l, "1"), NULL, 10) <= 100000);
    CHECK(lua_int(l, "EXISTS %st:%s", l->T, ID(2)) == 0);
}

TEST(beyond_the_window_tasks_are_parked_by_class_then_age)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .max_running = 1}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .max_running = 1, .priority = 3}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(3), .max_running = 1, .priority = 1}));
    CHECK(is_at(l, ID(1), "ready"));
    CHECK(is_at(l, ID(2), "parked"));
    CHECK(is_at(l, ID(3), "parked"));
    (void)lua_redis(l, "ZRANGE %soa:%s 0 -1", l->T, OWNER);
    CHECK(lua_is(l, "0", ID(1)));
    CHECK(lua_is(l, "1", ID(3)));
    CHECK(lua_is(l, "2", ID(2)));
}

TEST(a_task_may_be_created_ended)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .max_active = 1}));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2),
                                              .max_active = 1,
                                              .bid = "b1",
                                              .outcome = "{\"isError\":true}",
                                              .is_error = true,
                                              .message = "bad arguments"}));
    CHECK(lua_is(l, "0", "OK"));
    CHECK(lua_is(l, "1.1", "r"));
    CHECK(lua_is(l, "1.2", "1"));
    CHECK(lua_is(l, "1.11", "bad arguments"));
    CHECK(is_at(l, ID(2), "ended"));
    CHECK(field_is(l, ID(2), "wb", "nil"));
    CHECK(field_is(l, ID(2), "p", "nil"));
    CHECK(lua_int(l, "ZCARD %soa:%s", l->T, OWNER) == 1);
    CHECK(lua_int(l, "HGET %sst r", l->T) == 1);
    REQUIRE(move_get(l, ID(2), OWNER, ""));
    CHECK(lua_is(l, "15", "{\"isError\":true}"));
}

TEST(one_idle_worker_is_woken_and_the_dead_are_passed_over)
{
    struct lua *l = lua_fresh();
    struct hand h = {.wid = "dead1"};

    REQUIRE(lua_do(l, "serve", "pl:t : p|t"));
    REQUIRE(move_claim(l, &h, 1));
    h.wid = "alive";
    REQUIRE(move_claim(l, &h, 1));
    h.wid = "later";
    REQUIRE(move_claim(l, &h, 1));
    lua_listen(l, "alive");
    lua_listen(l, "later");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_channel(l, 0), "alive") == 0);
    CHECK(strcmp(lua_message(l, 0), "K 0") == 0);
    CHECK(lua_int(l, "LLEN %sil:p", l->T) == 1);
    lua_deafen(l, "alive");
    lua_deafen(l, "later");
}

TEST(pools_that_are_gone_keep_nobody_from_being_woken)
{
    struct lua *l = lua_fresh();
    struct hand h = {.wid = "alive"};

    REQUIRE(lua_do(l, "serve", "pl:t : p|t"));
    for (int i = 0; i < 20; i++) /* of some time ago */
        (void)lua_redis(l, "ZADD %spl:t %d gone%d", l->T, 1000 + i, i);
    REQUIRE(move_claim(l, &h, 1));
    lua_listen(l, "alive");
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    REQUIRE(lua_hear(l) == 1);
    CHECK(strcmp(lua_message(l, 0), "K 0") == 0);
    lua_deafen(l, "alive");
}

TEST(waking_gives_up_after_four_dead_workers_of_any_pool)
{
    struct lua *l = lua_fresh();
    struct hand h = {.pool = "p1"};
    char wid[8];

    REQUIRE(lua_do(l, "serve", "pl:t : p1|t"));
    REQUIRE(lua_do(l, "serve", "pl:t : p2|t"));
    for (int i = 0; i < 6; i++) {
        (void)snprintf(wid, sizeof(wid), "dead%d", i);
        h.wid = wid;
        h.pool = i < 3 ? "p1" : "p2";
        REQUIRE(move_claim(l, &h, 1));
    }
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    CHECK(lua_int(l, "LLEN %sil:p1", l->T) + lua_int(l, "LLEN %sil:p2", l->T) == 2);
}

TEST(R5_sequences_beyond_14_digits_stay_exact)
{
    struct lua *l = lua_fresh();

    (void)lua_redis(l, "SET %ssq 123456789012344", l->T);
    REQUIRE(move_create(l, &(struct new_task){.id = ID(1), .max_running = 1}));
    CHECK(lua_is(l, "1.10", "123456789012345"));
    CHECK(field_is(l, ID(1), "sq", "123456789012345"));
    REQUIRE(move_create(l, &(struct new_task){.id = ID(2), .max_running = 1}));
    CHECK(lua_is(l, "1.10", "123456789012346"));
    REQUIRE(move_list(l, OWNER, 123456789012345, 5));
    CHECK(lua_count(l, "") == 3);
    CHECK(lua_is(l, "2.0", ID(2)));
}

TEST(R1_a_wrong_type_under_any_key_leaves_nothing_behind)
{
    static const char *const keys[] = {"t:" ID(1), "o:" OWNER,  "oa:" OWNER, "ix",
                                       "sq",       "rl:" OWNER, "rq:t:0",    "im:" OWNER ":k"};
    struct lua *l = lua_fresh();

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        bool is_string = strncmp(keys[i], "im", 2) == 0 || strncmp(keys[i], "rl", 2) == 0 ||
                         strcmp(keys[i], "sq") == 0;

        lua_flush(l);
        (void)lua_redis(l, is_string ? "SADD %s%s x" : "SET %s%s x", l->T, keys[i]);
        CHECK(!move_create(
            l, &(struct new_task){.id = ID(1), .idem = "k", .digest = "d", .rate = 10000}));
        /* The attempt was counted, and a number of the sequence is used up: that is all. */
        if (strcmp(keys[i], "sq") != 0)
            (void)lua_redis(l, "DEL %ssq", l->T);
        if (strncmp(keys[i], "rl", 2) != 0)
            (void)lua_redis(l, "DEL %srl:%s", l->T, OWNER);
        CHECK(lua_int(l, "DBSIZE") == 1);
    }
}
