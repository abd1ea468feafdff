#include "worker/conf.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_MAX = 8 };

static enum cfg_outcome read_args(const struct cfg *table, struct conf *c, const char *const *args,
                                  struct buf *why)
{
    static char copies[ARGS_MAX][256];
    char *argv[ARGS_MAX + 1] = {copies[0]};
    int argc = 1;

    *c = (struct conf){.slots = 0};
    for (; args[argc - 1] != NULL; argc++) {
        (void)snprintf(copies[argc], sizeof(copies[argc]), "%s", args[argc - 1]);
        argv[argc] = copies[argc];
    }
    buf_init(why, 1000);
    return conf_read(table, c, argc, argv, why);
}

static void done(const struct cfg *table, struct conf *c, struct buf *why)
{
    conf_fini(table, c);
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

TEST(the_defaults_are_those_of_the_manual)
{
    struct conf c;
    struct buf why;

    REQUIRE(read_args(&conf_table, &c, ARGS("--tools", "tools.json"), &why) == CFG_READY);
    CHECK(strcmp(c.redis_shown, "redis://127.0.0.1:6379/0") == 0);
    CHECK(c.tools.n == 1 && strcmp(c.tools.items[0], "tools.json") == 0);
    CHECK((long)c.slots == sysconf(_SC_NPROCESSORS_ONLN));
    CHECK(c.lease == 10000 && c.grace == 20000 && c.partitions == 0);
    CHECK(strcmp(c.prefix, "errand") == 0 && c.public_url == NULL && !c.has_secret);
    CHECK(strcmp(c.log, "logfmt") == 0 && strcmp(c.log_level, "info") == 0);
    done(&conf_table, &c, &why);
}

static const struct {
    const char *args[5];
    const char *sentence; /* NULL: accepted */
} rows[] = {
    {{NULL}, "--tools: it is missing; write --tools FILE, a file that declares the tools to serve"},
    {{"--tools", "a", "--tools", "b"}, NULL},
    {{"--tools", "a", "--slots", "8"}, NULL},
    {{"--tools", "a", "--slots", "0"}, "--slots: \"0\" is too small; the least is 1"},
    {{"--tools", "a", "--slots", "1025"}, "--slots: \"1025\" is too large; the most is 1024"},
    {{"--tools", "a", "--lease", "500ms"}, "--lease: \"500ms\" is too small; the least is 1s"},
    {{"--tools", "a", "--lease", "10"}, "--lease: \"10\" has no unit"},
    {{"--tools", "a", "--grace", "0"}, NULL},
    {{"--tools", "a", "--redis", "x"}, "--redis: the Redis URL must begin with redis://"},
    {{"--tools", "a", "--prefix", "a b"}, "--prefix: \"a b\" is no prefix"},
    {{"--tools", "a", "--public-url", "x"}, "--public-url: it is no base of a URL"},
    {{"--tools", "a", "--secret-file", "/"}, "--secret-file: / cannot be read: Is a directory"},
    {{"--listen", "x"}, "--listen: errand-worker has no such option"},
};

TEST(values_that_cannot_work_are_refused_with_one_sentence)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *want = rows[i].sentence;
        struct conf c;
        struct buf why;

        CHECK(read_args(&conf_table, &c, rows[i].args, &why) ==
              (want == NULL ? CFG_READY : CFG_BAD));
        CHECK((why.n == 0) == (want == NULL));
        if (want != NULL && why.n != 0) {
            CHECK(strstr(why.p, want) != NULL);
            if (strstr(why.p, want) == NULL)
                printf("%s\n", why.p);
        }
        done(&conf_table, &c, &why);
    }
}

TEST(a_program_with_handlers_of_its_own_has_every_option_but_tools)
{
    struct cfg table = conf_table_without_tools("errand-example", "shows handlers in C");
    struct conf c;
    struct buf why;

    CHECK(read_args(&table, &c, ARGS("--lease", "3s", "--slots", "2"), &why) == CFG_READY);
    CHECK(c.lease == 3000 && c.slots == 2 && c.tools.n == 0);
    CHECK(cfg_given(&table, &c, "lease") && !cfg_given(&table, &c, "grace"));
    done(&table, &c, &why);
    CHECK(read_args(&table, &c, ARGS("--tools", "x"), &why) == CFG_BAD);
    CHECK(strstr(why.p, "--tools: errand-example has no such option") != NULL);
    done(&table, &c, &why);
}

TEST(the_secret_of_a_file_is_kept_until_the_end)
{
    char path[] = "/tmp/errand-secret-XXXXXX";
    int fd = mkstemp(path);
    struct conf c;
    struct buf why;

    REQUIRE(fd != -1);
    CHECK(write(fd, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n", 44) == 44);
    (void)close(fd);
    CHECK(read_args(&conf_table, &c, ARGS("--tools", "a", "--secret-file", path), &why) ==
          CFG_READY);
    CHECK(c.has_secret && c.secret[5] == 5);
    done(&conf_table, &c, &why);
    CHECK(c.secret[5] == 0);
    (void)unlink(path);
}
