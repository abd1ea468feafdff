#include "common/store.h"
#include "tests/lib/kit.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "00aaaaaaaaaaaaaaaaaaaaaa"
#define ID2 "00bbbbbbbbbbbbbbbbbbbbbb"

static struct kit kit;
static struct kit_store p;

static bool open_store(unsigned partitions)
{
    kit_start(&kit, NULL);
    return kit_store_open(&p, &kit, (struct store_conf){.partitions = partitions});
}

static void close_store(void)
{
    kit_store_free(&p);
    kit_stop(&kit);
}

static void publish(const char *text, size_t n)
{
    char channel[64];
    char *heard;

    (void)snprintf(channel, sizeof(channel), "errand:ch:%s", store_self(p.s));
    heard = kit_redis(&kit, "PUBLISH %s %b", channel, text, n);
    CHECK(strcmp(heard, "1") == 0);
    free(heard);
}

TEST(a_task_message_is_read_whole)
{
    static const char text[] =
        "T r 1 t L 1000 2000 3000 500 7 42 " ID " my.tool " ID2 " 4 7 2\ndone{\"p\":1}{}";
    const struct kit_event *e;

    REQUIRE(open_store(1));
    publish(text, sizeof(text) - 1);
    REQUIRE((e = kit_event(&p, STORE_EV_TASK, ID)) != NULL);
    CHECK(e->state == TASK_RESULT && e->is_error && !e->hidden && e->dialect == 'L');
    CHECK(e->version == 7);
    CHECK(strcmp(e->tool, "my.tool") == 0 && strcmp(e->task_session, ID2) == 0);
    CHECK(strcmp(e->session, "") == 0);
    CHECK(strcmp(e->message, "done") == 0 && strcmp(e->progress, "{\"p\":1}") == 0);
    CHECK(strcmp(e->outcome, "{}") == 0 && !e->omitted);
    close_store();
}

TEST(an_outcome_may_be_missing_or_left_out)
{
    static const char none[] = "T w 0 c M 1 2 3 0 1 1 " ID " x - 0 0 -1\n";
    static const char big[] = "T e 0 t M 1 2 3 0 2 1 " ID2 " x - 1 0 -2\nm";
    const struct kit_event *e;

    REQUIRE(open_store(1));
    publish(none, sizeof(none) - 1);
    REQUIRE((e = kit_event(&p, STORE_EV_TASK, ID)) != NULL);
    CHECK(!e->has_outcome && !e->omitted && e->hidden);
    CHECK(strcmp(e->session, "") == 0 && strcmp(e->task_session, "") == 0);
    publish(big, sizeof(big) - 1);
    REQUIRE((e = kit_event(&p, STORE_EV_TASK, ID2)) != NULL);
    CHECK(!e->has_outcome && e->omitted && e->state == TASK_ERROR);
    close_store();
}

TEST(every_other_kind_is_read)
{
    static const char request[] = "Q " ID " \"a b\"";
    const struct kit_event *e;

    REQUIRE(open_store(4));
    publish("K 3", 3);
    REQUIRE((e = kit_event(&p, STORE_EV_WAKE, NULL)) != NULL);
    CHECK(e->partition == 3);
    publish("O " ID, 26);
    REQUIRE(kit_event(&p, STORE_EV_CROWDED, ID) != NULL);
    publish("C " ID, 26);
    CHECK(kit_event(&p, STORE_EV_CANCEL, ID) != NULL);
    publish("H " ID, 26);
    REQUIRE(kit_event(&p, STORE_EV_CALLED, ID) != NULL);
    publish("I " ID " the key", 34);
    REQUIRE((e = kit_event(&p, STORE_EV_INPUT, ID)) != NULL);
    CHECK(strcmp(e->key, "the key") == 0);
    publish("G stream-1", 10);
    publish("V stream-1", 10);
    REQUIRE((e = kit_event(&p, STORE_EV_STREAM_SILENT, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0);
    REQUIRE((e = kit_event(&p, STORE_EV_STREAM_TAKEN, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0 && strcmp(e->session, "") == 0);
    publish("A stream-1", 10);
    REQUIRE((e = kit_event(&p, STORE_EV_STREAM_LEADS, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0);
    publish("E " ID, 26);
    REQUIRE((e = kit_event(&p, STORE_EV_SESSION_ENDED, NULL)) != NULL);
    CHECK(strcmp(e->session, ID) == 0);
    publish(request, sizeof(request) - 1);
    REQUIRE((e = kit_event(&p, STORE_EV_CANCEL_REQUEST, NULL)) != NULL);
    CHECK(strcmp(e->session, ID) == 0 && strcmp(e->request, "\"a b\"") == 0);
    publish("L", 1);
    CHECK(kit_event(&p, STORE_EV_TOOLS, NULL) != NULL);
    publish("P", 1);
    CHECK(kit_event(&p, STORE_EV_KEYS, NULL) != NULL);
    publish("W", 1);
    CHECK(kit_event(&p, STORE_EV_WANTED, NULL) != NULL);
    publish("U docs file:///a b ", 19);
    REQUIRE((e = kit_event(&p, STORE_EV_UPDATED, NULL)) != NULL);
    CHECK(strcmp(e->server, "docs") == 0 && strcmp(e->uri, "file:///a b ") == 0);
    CHECK(store_dropped(p.s) == 0);
    close_store();
}

TEST(an_event_of_a_stream_is_read_whole)
{
    static const char message[] = "S stream-1 1700000000000-2 d 13\n{\"jsonrpc\":1} ";
    static const char status[] =
        "S stream-1 5-0 t 63\ni 0 t L 1 2 3 0 5 6 " ID " tool - 4 0 -1\nhalf";
    const struct kit_event *e;

    REQUIRE(open_store(1));
    publish(message, sizeof(message) - 2);
    REQUIRE((e = kit_event(&p, STORE_EV_STREAM, NULL)) != NULL);
    CHECK(strcmp(e->stream, "stream-1") == 0 && strcmp(e->entry, "1700000000000-2") == 0);
    CHECK(!e->is_task && strcmp(e->data, "{\"jsonrpc\":1}") == 0);
    publish(message, sizeof(message) - 1); /* a byte too many */
    publish(status, sizeof(status) - 1);
    REQUIRE((e = kit_event(&p, STORE_EV_STREAM, ID)) != NULL);
    CHECK(e->is_task && strcmp(e->entry, "5-0") == 0 && strcmp(e->data, "") == 0);
    CHECK(e->state == TASK_INPUT && strcmp(e->message, "half") == 0 && !e->omitted);
    CHECK(store_dropped(p.s) == 1);
    close_store();
}

/* A good message, and what is done to it. */
#define HEAD "T r 0 t L 1 2 3 4 5 6 " ID " tool - "

static const char *const bad[] = {
    "",
    " ",
    "X",
    "LL",
    "L ",
    "P x",
    "K",
    "K ",
    "K -1",
    "K 1x",
    "K 1",
    "K 4294967296",
    "K 99999999999999999999999",
    "C",
    "C short",
    "C " ID "x",
    "C " ID " ",
    "C  " ID,
    "H short",
    "H " ID " ",
    "I " ID,
    "I " ID " ",
    "I short k",
    "G short",
    "G " ID,
    "V " ID,
    "V stream-1 x",
    "A stream-1 x",
    "S",
    "S stream-1 1-0 d 0",
    "S stream-1 1-0 x 0\n",
    "S stream-1 1-0 d 1\n",
    "S stream-1 1-0 d 1 \nx",
    "S stream-1 1-0 d\n",
    "S stream-1  d 0\n",
    "S stream 1-0 d 0\n",
    "S stream-1 1-0 t 1\nx",
    "S stream-1 1-0 t 0\n",
    "E",
    "Q " ID,
    "Q " ID " ",
    "T",
    "T ",
    HEAD "0 0 -1", /* no end of the head */
    HEAD "1 0 -1\n", /* less than it says */
    HEAD "0 0 -1\nx", /* more */
    HEAD "0 0 1\n",
    HEAD "0 0 -3\n",
    HEAD "0 0 x\n",
    HEAD "0 0 \n",
    HEAD "0 0\n",
    HEAD "0 0 -1 \n",
    HEAD "0 0 -1 7\n",
    HEAD "-1 0 -1\n",
    HEAD "18446744073709551615 0 -1\nx",
    HEAD "9999999999999999999 1 -1\nx",
    "T q 0 t L 1 2 3 4 5 6 " ID " tool - 0 0 -1\n",
    "T r 2 t L 1 2 3 4 5 6 " ID " tool - 0 0 -1\n",
    "T r 0 x L 1 2 3 4 5 6 " ID " tool - 0 0 -1\n",
    "T r 0 t X 1 2 3 4 5 6 " ID " tool - 0 0 -1\n",
    "T r 0 t L 1  3 4 5 6 " ID " tool - 0 0 -1\n",
    "T r 0 t L 1 2 3 4 5 6 short tool - 0 0 -1\n",
    "T r 0 t L 1 2 3 4 5 6 " ID "  - 0 0 -1\n",
};

static bool is_heard(void *arg)
{
    return kit_count(&p, STORE_EV_TOOLS, NULL) > *(unsigned *)arg;
}

TEST(a_malformed_message_is_dropped_and_counted)
{
    const unsigned n = sizeof(bad) / sizeof(bad[0]);

    REQUIRE(open_store(1));
    for (unsigned i = 0; i < n; i++) {
        publish(bad[i], strlen(bad[i]));
        publish("L", 1);
        REQUIRE(turn_until(kit.base, 10000, is_heard, &i));
        if (store_dropped(p.s) != i + 1)
            (void)fprintf(stderr, "not dropped: %s\n", bad[i]);
    }
    publish("T r 0 t L 1 2 3 4 5 6 \0", 23);
    publish("L", 1);
    REQUIRE(turn_until(kit.base, 10000, is_heard, &(unsigned){n}));
    CHECK(store_dropped(p.s) == n + 1);
    CHECK(kit_count(&p, STORE_EV_TOOLS, NULL) == n + 1);
    close_store();
}

TEST(every_prefix_of_a_good_message_is_harmless)
{
    static const char text[] = HEAD "4 7 2\ndone{\"p\":1}{}";

    REQUIRE(open_store(1));
    for (size_t n = 0; n < sizeof(text) - 1; n++)
        publish(text, n);
    publish(text, sizeof(text) - 1);
    REQUIRE(kit_event(&p, STORE_EV_TASK, ID) != NULL);
    CHECK(store_dropped(p.s) == sizeof(text) - 1 && p.event_count == 1);
    close_store();
}

TEST(what_one_tells_all_every_store_hears)
{
    struct kit_store q;
    const struct kit_event *e;

    REQUIRE(open_store(1));
    REQUIRE(kit_store_open(&q, &kit, (struct store_conf){.url = NULL}));
    store_tell_all(p.s, "Q", SPAN(ID), SPAN("17"));
    REQUIRE((e = kit_event(&q, STORE_EV_CANCEL_REQUEST, NULL)) != NULL);
    CHECK(strcmp(e->session, ID) == 0 && strcmp(e->request, "17") == 0);
    CHECK(kit_event(&p, STORE_EV_CANCEL_REQUEST, NULL) != NULL);
    store_tell_all(q.s, "L", (struct span){NULL, 0}, (struct span){NULL, 0});
    CHECK(kit_event(&p, STORE_EV_TOOLS, NULL) != NULL);
    kit_store_free(&q);
    close_store();
}
