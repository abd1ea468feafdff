#include "common/buf.h"
#include "common/json.h"
#include "tests/lib/test.h"

#include <stdlib.h>

static bool holds(const struct buf *b, const char *want)
{
    return span_is(buf_span(b), want);
}

TEST(a_new_buf_is_an_empty_text)
{
    struct buf b;
    char *p;

    buf_init(&b, 10);
    CHECK(buf_ok(&b));
    CHECK(buf_span(&b).p != NULL && buf_span(&b).n == 0);
    p = buf_take(&b);
    CHECK(strcmp(p, "") == 0);
    free(p);
    buf_fini(&b);
    buf_fini(&b);
}

TEST(what_is_added_stands_in_order_and_ends_in_a_nul)
{
    struct buf b;

    buf_init(&b, 1000);
    buf_adds(&b, "ab");
    buf_addc(&b, 'c');
    buf_add(&b, "defg", 3);
    buf_add_span(&b, SPAN("gh"));
    buf_add_span(&b, (struct span){NULL, 0});
    buf_addf(&b, "-%s-%d-", "i", 7);
    buf_add_u64(&b, 0);
    buf_add_u64(&b, UINT64_MAX);
    CHECK(holds(&b, "abcdefgh-i-7-018446744073709551615"));
    CHECK(b.p[b.n] == '\0');
    buf_fini(&b);
}

TEST(a_buf_takes_exactly_its_ceiling)
{
    struct buf b;

    buf_init(&b, 5);
    buf_adds(&b, "12345");
    CHECK(buf_ok(&b));
    CHECK(holds(&b, "12345"));
    buf_adds(&b, "");
    CHECK(buf_ok(&b));
    buf_addc(&b, '6');
    CHECK(!buf_ok(&b));
    CHECK(holds(&b, "12345"));
    buf_fini(&b);
}

TEST(after_an_overflow_nothing_changes_until_a_reset)
{
    struct buf b;

    buf_init(&b, 8);
    buf_adds(&b, "abc");
    buf_adds(&b, "too long for it");
    CHECK(!buf_ok(&b));
    buf_addc(&b, 'd'); /* it would fit: a hole in the middle is worse than a short text */
    buf_addf(&b, "%d", 1);
    buf_add_u64(&b, 1);
    buf_add_json(&b, SPAN(""));
    CHECK(holds(&b, "abc"));
    CHECK(!buf_ok(&b));
    buf_reset(&b);
    CHECK(buf_ok(&b));
    CHECK(holds(&b, ""));
    buf_addf(&b, "%s", "12345678");
    CHECK(buf_ok(&b) && holds(&b, "12345678"));
    buf_fini(&b);
}

TEST(a_format_that_would_pass_the_ceiling_adds_nothing)
{
    struct buf b;

    buf_init(&b, 8);
    buf_addf(&b, "%09d", 1);
    CHECK(!buf_ok(&b));
    CHECK(b.n == 0);
    buf_fini(&b);
}

TEST(a_buf_that_may_hold_nothing_holds_nothing)
{
    struct buf b;

    buf_init(&b, 0);
    buf_adds(&b, "");
    CHECK(buf_ok(&b));
    buf_addc(&b, 'x');
    CHECK(!buf_ok(&b));
    buf_fini(&b);
}

TEST(a_large_text_grows_step_by_step)
{
    struct buf b;

    buf_init(&b, 1000000);
    for (int i = 0; i < 100000; i++)
        buf_adds(&b, "0123456789");
    CHECK(buf_ok(&b) && b.n == 1000000);
    CHECK(memcmp(b.p + 999990, "0123456789", 11) == 0);
    buf_addc(&b, 'x');
    CHECK(!buf_ok(&b));
    buf_fini(&b);
}

TEST(taken_bytes_are_the_callers_and_the_buf_starts_afresh)
{
    struct buf b;
    char *p;

    buf_init(&b, 10);
    buf_adds(&b, "abc");
    p = buf_take(&b);
    CHECK(strcmp(p, "abc") == 0);
    CHECK(b.n == 0 && b.max == 10);
    buf_adds(&b, "xyz");
    CHECK(strcmp(p, "abc") == 0 && holds(&b, "xyz"));
    free(p);
    buf_fini(&b);
}

TEST(S12_a_buf_for_secrets_never_moves_so_that_a_wipe_finds_every_copy)
{
    struct buf b;
    const char *before;

    buf_init_secret(&b, 5000);
    before = b.p;
    for (int i = 0; i < 500; i++)
        buf_adds(&b, "0123456789");
    CHECK(buf_ok(&b) && b.n == 5000);
    CHECK(b.p == before);
    buf_addc(&b, 'x');
    CHECK(!buf_ok(&b));
    buf_wipe(&b);
    CHECK(b.p == NULL && b.n == 0);
    buf_wipe(&b);
}

static bool json_of(struct span text, const char *want)
{
    struct buf b;
    bool ok;

    buf_init(&b, 4096);
    buf_add_json(&b, text);
    ok = holds(&b, want) && json_check(buf_span(&b), NULL, NULL) == ERR_OK;
    buf_fini(&b);
    return ok;
}

TEST(text_becomes_a_json_string)
{
    CHECK(json_of(SPAN(""), "\"\""));
    CHECK(json_of((struct span){NULL, 0}, "\"\""));
    CHECK(json_of(SPAN("plain / text"), "\"plain / text\""));
    CHECK(json_of(SPAN("\"q\"\\"), "\"\\\"q\\\"\\\\\""));
    CHECK(json_of(SPAN("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\""));
    CHECK(json_of(SPAN("a\0\x01\x1f\x7fz"), "\"a\\u0000\\u0001\\u001f\\u007fz\""));
    CHECK(json_of(SPAN("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""));
}

#define FFFD "\xef\xbf\xbd"

TEST(J6_bytes_that_are_no_utf8_become_the_replacement_character)
{
    CHECK(json_of(SPAN("a\xffz"), "\"a" FFFD "z\""));
    CHECK(json_of(SPAN("\xc0\xaf"), "\"" FFFD FFFD "\""));
    CHECK(json_of(SPAN("\xed\xa0\x80"), "\"" FFFD FFFD FFFD "\""));
    CHECK(json_of(SPAN("\xe2\x82"), "\"" FFFD FFFD "\""));
    CHECK(json_of(SPAN("\xc3"), "\"" FFFD "\""));
    CHECK(json_of(SPAN("\xc3\""), "\"" FFFD "\\\"\""));
    CHECK(json_of(SPAN("\xf4\x90\x80\x80"), "\"" FFFD FFFD FFFD FFFD "\""));
}

/* Whatever the bytes, the string is JSON and says what could be said. */
TEST(every_pair_of_bytes_makes_valid_json)
{
    size_t bad = 0;

    for (unsigned pair = 0; pair < 65536; pair++) {
        const char text[2] = {(char)(pair >> 8), (char)(pair & 0xffU)};
        struct buf b;

        buf_init(&b, 64);
        buf_add_json(&b, (struct span){text, 2});
        bad += json_check(buf_span(&b), NULL, NULL) != ERR_OK;
        buf_fini(&b);
    }
    CHECK(bad == 0);
}

static bool time_is(uint64_t ms, const char *want)
{
    struct buf b;
    bool ok;

    buf_init(&b, 64);
    buf_add_time(&b, ms);
    ok = holds(&b, want);
    buf_fini(&b);
    return ok;
}

TEST(times_are_rfc_3339_in_utc_with_milliseconds)
{
    CHECK(time_is(0, "1970-01-01T00:00:00.000Z"));
    CHECK(time_is(1767323045678, "2026-01-02T03:04:05.678Z"));
    CHECK(time_is(1709251199999, "2024-02-29T23:59:59.999Z"));
    CHECK(time_is(1709251200007, "2024-03-01T00:00:00.007Z"));
}
