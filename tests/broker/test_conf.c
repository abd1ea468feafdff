#include "broker/conf.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 8 };

static enum cfg_outcome read_args(struct conf *c, const char *const *args, struct buf *why)
{
    static char copies[ARGS_MAX][256];
    char *argv[ARGS_MAX + 1] = {copies[0]};
    int argc = 1;

    *c = (struct conf){.port = 0};
    for (; args[argc - 1] != NULL; argc++) {
        (void)snprintf(copies[argc], sizeof(copies[argc]), "%s", args[argc - 1]);
        argv[argc] = copies[argc];
    }
    buf_init(why, 1000);
    return conf_read(c, argc, argv, why);
}

static void done(struct conf *c, struct buf *why)
{
    conf_fini(c);
    buf_fini(why);
}

#define ARGS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }
#define NO_ARGS \
    (const char *const[]) \
    { \
        NULL \
    }

static bool is_loopback_list(const struct cfg_list *list)
{
    return list->n == 1 && strcmp(list->items[0], "loopback") == 0;
}

TEST(the_defaults_are_those_of_the_manual)
{
    struct conf c;
    struct buf why;

    REQUIRE(read_args(&c, NO_ARGS, &why) == CFG_READY);
    CHECK(strcmp(c.redis_shown, "redis://127.0.0.1:6379/0") == 0 && c.url.port == 6379);
    CHECK(strcmp(c.host, "127.0.0.1") == 0 && c.port == 8080);
    CHECK(strcmp(c.prefix, "errand") == 0 && c.partitions == 0 && !c.has_secret);
    CHECK(strcmp(c.auth, "none") == 0 && strcmp(c.dialects, "both") == 0 && !c.facade);
    CHECK(strcmp(c.log, "logfmt") == 0 && strcmp(c.log_level, "info") == 0);
    CHECK(c.max_ttl == 86400000 && c.default_ttl == 3600000 && c.poll_interval == 1000);
    CHECK(c.max_active == 1000 && c.max_running == 64 && c.rate == 100000);
    CHECK(c.max_body == 1048576 && c.max_result == 16777216 && c.page_size == 50);
    CHECK(c.keepalive == 15000 && c.ask_timeout == 600000 && c.grace == 20000);
    CHECK(c.tool_grace == 60000 && strcmp(c.iserror_status, "failed") == 0);
    CHECK(c.public_url == NULL && is_loopback_list(&c.origins) && is_loopback_list(&c.hosts));
    done(&c, &why);
}

TEST(no_limit_is_written_as_zero)
{
    struct conf c;
    struct buf why;

    CHECK(read_args(&c, ARGS("--rate", "0", "--max-active", "0", "--max-running=0"), &why) ==
          CFG_READY);
    CHECK(c.rate == 0 && c.max_active == 0 && c.max_running == 0);
    done(&c, &why);
}

static const struct {
    const char *args[5];
    const char *sentence; /* NULL: accepted */
} rows[] = {
    {{"--listen", "[::1]:8080"}, NULL},
    {{"--listen", "localhost:8080"}, NULL},
    {{"--listen", "0.0.0.0:8080", "--auth", "key"}, NULL},
    {{"--listen", "0.0.0.0:8080", "--auth=none"}, NULL},
    {{"--listen", "0.0.0.0:8080"},
     "--listen: \"0.0.0.0:8080\" can be reached from other machines; add --auth key, or --auth "
     "none to let anyone in"},
    {{"--listen", "broker:80"}, "can be reached from other machines"},
    {{"--listen", "8080"}, "--listen: \"8080\" is no address to listen on; write HOST:PORT, like "},
    {{"--auth", "jwt"}, "--auth: jwt is not there yet; write key or none"},
    {{"--auth", "oauth"}, "--auth: \"oauth\" is not one of none, key, jwt"},
    {{"--jwt-issuer", "x"}, "--jwt-issuer: --auth jwt is not there yet; leave it out"},
    {{"--jwt-audience", "x"}, "--jwt-audience: --auth jwt is not there yet; leave it out"},
    {{"--jwt-jwks", "x"}, "--jwt-jwks: --auth jwt is not there yet; leave it out"},
    {{"--probe", "ready"}, NULL},
    {{"--probe", "ready", "--listen", "0.0.0.0:80"}, NULL},
    {{"--probe", "dead"}, "--probe: \"dead\" is not one of live, ready"},
    {{"--probe", "live", "--listen", "localhost:0"},
     "--listen: \"localhost:0\" does not say which port to probe; write it"},
    {{"--facade"}, NULL},
    {{"--facade=off"}, NULL},
    {{"--dialects", "m"}, NULL},
    {{"--dialects", "l"}, NULL},
    {{"--dialects", "both"}, NULL},
    {{"--redis", "http://h"}, "--redis: the Redis URL must begin with redis://, "},
    {{"--redis", "redis+sentinel://h/m"}, NULL},
    {{"--redis", "redis+sentinel://h"},
     "--redis: the Redis URL names no primary, as its sentinels"},
    {{"--durability", "wait:1"}, NULL},
    {{"--durability", "wait:0"}, "--durability: \"wait:0\" is neither none nor wait:N"},
    {{"--durability", "wait:10"}, "--durability: \"wait:10\" is neither none nor wait:N"},
    {{"--durability", "always"}, "--durability: \"always\" is neither none nor wait:N"},
    {{"--redis", "redis://:hunter2@h/x"},
     "--redis: the database in the Redis URL must be a number"},
    {{"--redis", "redis://joe@h"}, "--redis: the Redis URL names a user without a password"},
    {{"--redis", "redis://joe@h", "--redis-password-file", "/nonexistent"},
     "--redis-password-file: /nonexistent cannot be read: No such file"},
    {{"--prefix", "a:b"}, "--prefix: \"a:b\" is no prefix"},
    {{"--prefix", "123456789012345678901234567890123"}, "--prefix: is longer than 32 bytes"},
    {{"--secret-file", "/nonexistent"}, "--secret-file: /nonexistent cannot be read: No such file"},
    {{"--public-url", "broker.example"}, "--public-url: it is no base of a URL"},
    {{"--public-url", "https://broker.example"}, NULL},
    {{"--max-ttl", "30m"}, "--default-ttl: 1h is longer than --max-ttl, which is 30m"},
    {{"--default-ttl", "2d"}, "--default-ttl: 2d is longer than --max-ttl, which is 1d"},
    {{"--max-ttl", "30m", "--default-ttl", "30m"}, NULL},
    {{"--page-size", "0"}, "--page-size: \"0\" is too small; the least is 1"},
    {{"--max-body", "65m"}, "--max-body: \"65m\" is too large; the most is 64m"},
    {{"--keepalive", "0"}, "--keepalive: \"0\" is too small; the least is 1s"},
    {{"--iserror-status", "ok"}, "--iserror-status: \"ok\" is not one of failed, completed"},
    {{"--log", "xml"}, "--log: \"xml\" is not one of logfmt, json"},
    {{"--log-level", "trace"}, "--log-level: \"trace\" is not one of debug, info, warn, error"},
    {{"--tools", "x"}, "--tools: errand-broker has no such option"},
    {{"--partitions", "1025"}, "--partitions: \"1025\" is too large; the most is 64"},
};

TEST(values_that_cannot_work_are_refused_with_one_sentence)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *want = rows[i].sentence;
        struct conf c;
        struct buf why;

        CHECK(read_args(&c, rows[i].args, &why) == (want == NULL ? CFG_READY : CFG_BAD));
        CHECK((why.n == 0) == (want == NULL));
        if (want != NULL && why.n != 0) {
            CHECK(strstr(why.p, want) != NULL);
            if (strstr(why.p, want) == NULL)
                printf("%s\n", why.p);
            CHECK(strstr(why.p, "hunter2") == NULL && strchr(why.p, '\n') == NULL);
        }
        done(&c, &why);
    }
}

TEST(a_sentence_names_the_variable_when_the_value_came_from_there)
{
    struct conf c;
    struct buf why;

    (void)setenv("ERRAND_AUTH", "jwt", 1);
    CHECK(read_args(&c, NO_ARGS, &why) == CFG_BAD);
    CHECK(strcmp(why.p, "ERRAND_AUTH: jwt is not there yet; write key or none") == 0);
    done(&c, &why);
    (void)unsetenv("ERRAND_AUTH");
}
