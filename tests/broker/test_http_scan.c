#include "broker/http_internal.h"

#include "tests/lib/test.h"

#include <string.h>

static const struct {
    const char *text;
    unsigned flaws;
    bool over; /* the head has ended */
} heads[] = {
    {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, true},
    {"GET / HTTP/1.0\r\n\r\n", 0, true},
    {"GET / HTTP/1.1\r\nHost: a\r\n", 0, false},
    {"GET / HTTP/1.1\r\nX: \t\xc3\xa9\r\n\r\n", 0, true},
    {"GET / HTTP/1.1\r\n\r\n {\n\x01 \r\n y", 0, true}, /* the body is not looked at */
    {"GET / HTTP/1.1\n\r\n", HTTP_FLAW_BARE_LF | HTTP_FLAW_VERSION, true},
    {"GET / HTTP/1.1\r\nA: b\n\r\n", HTTP_FLAW_BARE_LF, true},
    {"GET / HTTP/1.1\r\nA: b\r\n\n", HTTP_FLAW_BARE_LF, true},
    {"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", HTTP_FLAW_BARE_CR, true},
    {"GET / HTTP/1.1\r\nA: b\r\r\n\r\n", HTTP_FLAW_BARE_CR, true},
    {"GET / HTTP/1.1\r\n\rA: b\r\n\r\n", HTTP_FLAW_BARE_CR, true},
    {"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", HTTP_FLAW_FOLD, true},
    {"GET / HTTP/1.1\r\n\tA: b\r\n\r\n", HTTP_FLAW_FOLD, true},
    {"GET / HTTP/1.1\r\nA: \x7f\r\n\r\n", HTTP_FLAW_CONTROL, true},
    {"GET / HTTP/1.1\r\nA: \x1b\r\n\r\n", HTTP_FLAW_CONTROL, true},
    {"GET / HTTP/1.10\r\n\r\n", HTTP_FLAW_VERSION, true},
    {"GET / HTTP/11.1\r\n\r\n", HTTP_FLAW_VERSION, true},
    {"GET / http/1.1 \r\n\r\n", HTTP_FLAW_VERSION, true},
    {"\r\nGET / HTTP/1.1\r\n\r\n", HTTP_FLAW_VERSION, true},
    {"GE\xffT / HTTP/1.1\r\n\r\n", HTTP_FLAW_METHOD, true},
    {"GE(T / HTTP/1.1\r\n\r\n", HTTP_FLAW_METHOD, true},
    {" GET / HTTP/1.1\r\n\r\n", HTTP_FLAW_METHOD, true},
    {"M-SEARCH / HTTP/1.1\r\n\r\n", 0, true},
};

static void scan_cut(struct http_scan *s, const char *p, size_t n, size_t part)
{
    http_scan_start(s);
    for (size_t i = 0; i < n; i += part)
        http_scan_bytes(s, p + i, n - i < part ? n - i : part);
}

TEST(L7_flaws_of_lines_are_seen_however_the_bytes_arrive)
{
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        for (size_t part = 1; part < 40; part++) {
            struct http_scan s;

            scan_cut(&s, heads[i].text, strlen(heads[i].text), part);
            CHECK(s.flaws == heads[i].flaws);
            CHECK(s.body == heads[i].over);
        }
    }
}

TEST(L8_a_nul_is_seen_anywhere_in_the_head_and_ignored_in_the_body)
{
    static const char head[] = "POST / HTTP/1.1\r\nA: b\r\n\r\nbody";
    size_t end = sizeof("POST / HTTP/1.1\r\nA: b\r\n\r\n") - 1;

    for (size_t at = 0; at < sizeof(head) - 1; at++) {
        char text[sizeof(head)];
        struct http_scan s;

        if (head[at] == '\r' || head[at] == '\n')
            continue;
        memcpy(text, head, sizeof(head));
        text[at] = '\0';
        scan_cut(&s, text, sizeof(head) - 1, 7);
        CHECK(((s.flaws & HTTP_FLAW_NUL) != 0) == (at < end));
    }
}

TEST(every_flaw_has_a_sentence)
{
    for (unsigned flaw = 1; flaw <= HTTP_FLAW_VERSION; flaw <<= 1)
        CHECK(strlen(http_scan_text(flaw)) > 10);
}
