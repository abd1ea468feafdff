#include "worker/upstream/sse.h"

#include "tests/lib/test.h"

#include <stdio.h>

static char told[4096];

static void on_event(void *arg, struct span data)
{
    size_t n = strlen(told);

    (void)arg;
    if (data.p == NULL)
        (void)snprintf(told + n, sizeof(told) - n, "LONG");
    else
        (void)snprintf(told + n, sizeof(told) - n, "<%.*s>", (int)data.n, data.p);
}

TEST(events_are_read_however_their_bytes_are_cut)
{
    static const char text[] =
        ": comment\n\nevent: message\nid: 7\ndata: {\"a\":1}\n\n"
        "data:one\r\ndata: two\r\n\r\nid: 8\ndata: \n\nretry: 250\rdata: x\r\r"
        "data: cut off";

    for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
        struct sse s;

        told[0] = '\0';
        sse_init(&s, 1000, on_event, NULL);
        sse_feed(&s, (struct span){text, cut});
        sse_feed(&s, (struct span){text + cut, sizeof(text) - 1 - cut});
        CHECK(strcmp(told, "<{\"a\":1}><one\ntwo><x>") == 0);
        CHECK(span_is(buf_span(&s.id), "8") && s.retry_ms == 250);
        sse_cut(&s);
        sse_feed(&s, SPAN("\n\ndata: new\n\n"));
        CHECK(strcmp(told, "<{\"a\":1}><one\ntwo><x><new>") == 0);
        sse_fini(&s);
    }
}

TEST(an_event_that_is_too_long_is_left_out_and_the_next_one_is_not)
{
    struct sse s;

    told[0] = '\0';
    sse_init(&s, 20, on_event, NULL);
    for (int i = 0; i < 10; i++)
        sse_feed(&s, i == 0 ? SPAN("data: aaaaaaaaaaaa") : SPAN("aaaaaaaaaaaa"));
    sse_feed(&s, SPAN("\n\ndata: b\n\n"));
    CHECK(strcmp(told, "LONG<b>") == 0);
    for (int i = 0; i < 10; i++)
        sse_feed(&s, SPAN("data: cccc\n"));
    sse_feed(&s, SPAN("\ndata: d\n\n"));
    CHECK(strcmp(told, "LONG<b>LONG<d>") == 0);
    sse_fini(&s);
}
