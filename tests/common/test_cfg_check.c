#include "common/cfg_check.h"

#include "common/cfg.h"
#include "common/url.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *text;
    const char *host; /* NULL: refused */
    unsigned port;
    bool loopback;
} addresses[] = {
    {"127.0.0.1:8080", "127.0.0.1", 8080, true},
    {"127.8.7.6:1", "127.8.7.6", 1, true},
    {"localhost:0", "localhost", 0, true},
    {"LocalHost:80", "LocalHost", 80, true},
    {"[::1]:8080", "::1", 8080, true},
    {"0.0.0.0:8080", "0.0.0.0", 8080, false},
    {"[::]:65535", "::", 65535, false},
    {"10.0.0.1:80", "10.0.0.1", 80, false},
    {"broker.local:80", "broker.local", 80, false},
    {"localhost.evil.example:80", "localhost.evil.example", 80, false},
    {"", NULL, 0, false},
    {"8080", NULL, 0, false},
    {":8080", NULL, 0, false},
    {"127.0.0.1", NULL, 0, false},
    {"127.0.0.1:", NULL, 0, false},
    {"127.0.0.1:65536", NULL, 0, false},
    {"127.0.0.1:99999999999999", NULL, 0, false},
    {"127.0.0.1:80x", NULL, 0, false},
    {"127.0.0.1:-1", NULL, 0, false},
    {"::1:8080", NULL, 0, false},
    {"[localhost]:80", NULL, 0, false},
    {"[]:80", NULL, 0, false},
    {"[::1]", NULL, 0, false},
    {"http://127.0.0.1:80", NULL, 0, false},
    {"a b:80", NULL, 0, false},
};

TEST(an_address_to_listen_on_is_host_and_port)
{
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const char *want = addresses[i].host;
        struct buf why;
        uint16_t port = 7;
        char *host;

        buf_init(&why, 1000);
        CHECK(cfg_check_listen(addresses[i].text, &host, &port, &why) == (want != NULL));
        CHECK((host != NULL) == (want != NULL));
        if (host != NULL && want != NULL) {
            CHECK(strcmp(host, want) == 0 && port == addresses[i].port);
            CHECK(cfg_is_loopback(host) == addresses[i].loopback);
        } else {
            CHECK(strstr(why.p, " is no address to listen on; write HOST:PORT") != NULL);
        }
        free(host);
        buf_fini(&why);
    }
}

TEST(a_prefix_cannot_break_the_keys)
{
    struct buf why;

    buf_init(&why, 1000);
    CHECK(cfg_check_prefix("errand-2_b.x", &why) && why.n == 0);
    CHECK(!cfg_check_prefix("a{b}", &why));
    CHECK(strstr(why.p, "\"a{b}\" is no prefix; write letters") != NULL);
    CHECK(!cfg_check_prefix("a:b", &why) && !cfg_check_prefix("", &why));
    CHECK(!cfg_check_prefix("a b", &why) && !cfg_check_prefix("a*", &why));
    buf_fini(&why);
}

TEST(a_base_url_is_plain)
{
    static const char *const good[] = {"http://h", "https://h.example:8443", "https://h/errand",
                                       "http://[::1]:80"};
    static const char *const bad[] = {
        "h",         "http://",      "https://",    "ftp://h",     "http://h/",  "http://:80",
        "http:///x", "https://h?x",  "https://h#x", "https://u@h", "http://h x", "http://h\n",
        "",          "https://h/\"", "HTTP://h"};
    struct buf why;

    buf_init(&why, 10000);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(cfg_check_base_url(good[i], &why) && why.n == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!cfg_check_base_url(bad[i], &why));
    CHECK(strstr(why.p, "write https://HOST or http://HOST:PORT/PATH") != NULL);
    buf_fini(&why);
}

/* The secret in a file of that text; the sentence without the path. */
static bool read_secret(const char *text, unsigned char out[static 32], struct buf *why)
{
    char path[] = "/tmp/errand-secret-XXXXXX";
    int fd = mkstemp(path);
    bool ok;

    if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    (void)close(fd);
    ok = cfg_read_secret(path, out, why);
    (void)unlink(path);
    return ok;
}

TEST(a_secret_is_43_characters_of_base64url_maybe_with_a_newline)
{
    static const char text[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    static const char *const bad[] = {"", "x", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8x",
                                      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh",
                                      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdH+8"};
    char line[64];
    unsigned char secret[32] = {0};
    struct buf why;

    buf_init(&why, 10000);
    (void)snprintf(line, sizeof(line), "%s\r\n", text);
    CHECK(read_secret(line, secret, &why) && secret[0] == 0 && secret[31] == 31);
    CHECK(read_secret(text, secret, &why) && why.n == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!read_secret(bad[i], secret, &why));
    CHECK(strstr(why.p, " does not hold a secret, which is 43 characters of base64url") != NULL);
    CHECK(strstr(why.p, "AAEC") == NULL);
    buf_reset(&why);
    CHECK(!cfg_read_secret("/nonexistent", secret, &why));
    CHECK(strcmp(why.p, "/nonexistent cannot be read: No such file or directory") == 0);
    buf_fini(&why);
}

struct conf {
    struct cfg_base base;
    char *redis;
};

struct both {
    struct cfg_base base;
    char *redis;
    char *file;
};

static const struct cfg_row both_rows[] = {
    {"redis", CFG_TEXT, offsetof(struct both, redis), NULL, 0, 0, NULL, ""},
    {"redis-password-file", CFG_TEXT, offsetof(struct both, file), NULL, 0, 0, NULL, ""}};
static const struct cfg both_table = {"errand-test", "tests", both_rows, 2, NULL, NULL, NULL};

/* With a file of n bytes; NULL: without one. */
static bool check_redis(const char *url, const char *text, size_t n, struct url *u, struct buf *why)
{
    char path[] = "/tmp/errand-password-XXXXXX";
    int fd = text != NULL ? mkstemp(path) : -1;
    struct both c = {.redis = NULL};
    bool ok;

    if (text != NULL && (fd == -1 || write(fd, text, n) != (ssize_t)n))
        abort();
    if (fd != -1)
        (void)close(fd);
    ok = cfg_check_redis(&both_table, &c, url, text != NULL ? path : NULL, u, why);
    if (text != NULL)
        (void)unlink(path);
    return ok;
}

TEST(a_password_of_redis_may_stand_in_a_file)
{
    static const struct {
        const char *url;
        const char *text; /* NULL: no file */
        const char *password; /* NULL: refused, or none */
        const char *sentence; /* NULL: accepted */
    } cases[] = {
        {"redis://joe@h", "hunter2", "hunter2", NULL},
        {"redis://joe@h", "hunter2\n", "hunter2", NULL},
        {"redis://h", "hunter2\r\n", "hunter2", NULL},
        {"redis://h", " hunter%32\n", " hunter%32", NULL},
        {"redis://joe:x@h", NULL, "x", NULL},
        {"redis://h", NULL, NULL, NULL},
        {"redis://joe@h", NULL, NULL,
         "--redis: the Redis URL names a user without a password; write USER:PASSWORD@, or give "
         "--redis-password-file"},
        {"redis://joe:x@h", "hunter2", NULL,
         "--redis-password-file: the Redis URL has a password already"},
        {"redis://joe@h", "", NULL, "does not hold a password, which is one line"},
        {"redis://joe@h", "\n", NULL, "does not hold a password, which is one line"},
        {"redis://joe@h", "hunter2\nhunter2\n", NULL, "does not hold a password"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = cases[i].text;
        struct url u = {.tls = false};
        struct buf why;

        buf_init(&why, 1000);
        CHECK(check_redis(cases[i].url, text, text != NULL ? strlen(text) : 0, &u, &why) ==
              (cases[i].sentence == NULL));
        if (cases[i].sentence != NULL)
            CHECK(strstr(why.p, cases[i].sentence) != NULL && strstr(why.p, "hunter2") == NULL);
        else if (cases[i].password != NULL)
            CHECK(u.password != NULL && strcmp(u.password, cases[i].password) == 0);
        else
            CHECK(u.password == NULL);
        url_fini(&u);
        buf_fini(&why);
    }
}

TEST(a_file_that_is_no_password_is_refused)
{
    char text[2000];
    struct url u = {.tls = false};
    struct buf why;

    buf_init(&why, 1000);
    memset(text, 'x', sizeof(text));
    CHECK(check_redis("redis://h", text, 1024, &u, &why) && strlen(u.password) == 1024);
    url_fini(&u);
    CHECK(!check_redis("redis://h", text, 1025, &u, &why));
    CHECK(strstr(why.p, "one line of at most 1024 bytes") != NULL);
    url_fini(&u);
    CHECK(!check_redis("redis://h", "a\0b", 3, &u, &why));
    url_fini(&u);
    buf_fini(&why);
}

TEST(blame_puts_the_place_before_the_sentence)
{
    static const struct cfg_row rows[] = {
        {"redis", CFG_TEXT, offsetof(struct conf, redis), NULL, 0, 0, NULL, ""}};
    static const struct cfg table = {"errand-test", "tests", rows, 1, NULL, NULL, NULL};
    struct conf c = {.base = {.from = {CFG_FROM_ENV}}};
    struct buf why;

    buf_init(&why, 1000);
    buf_adds(&why, "it is wrong");
    CHECK(!cfg_blame(&table, &c, "redis", &why));
    CHECK(strcmp(why.p, "ERRAND_REDIS: it is wrong") == 0);
    buf_fini(&why);
}
