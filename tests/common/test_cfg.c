#include "common/cfg.h"

#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct conf {
    struct cfg_base base;
    char *redis;
    uint64_t max_ttl;
    bool facade;
    struct cfg_list tools;
};

static const struct cfg_row rows[] = {
    CFG_ROW(struct conf, TEXT, redis, "redis", "default", 1, 0, NULL, "where")
        CFG_ROW(struct conf, TIME, max_ttl, "max-ttl", "24h", 1000, 0, NULL, "how long")
            CFG_ROW(struct conf, BOOL, facade, "facade", "off", 0, 0, NULL, "plain")
                CFG_ROW(struct conf, LIST, tools, "tools", "a,b", 0, 0, NULL, "files")};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), ARGS_MAX = 16 };

static void write_sheets(struct buf *out)
{
    buf_adds(out, "# Sheets\n");
}

static const struct cfg_page pages[] = {{"sheets", write_sheets}, {NULL, NULL}};

static const struct cfg plain = {"errand-test", "tests", rows, ROWS, NULL, pages, NULL};
static const struct cfg with_rest = {"errand-test", "tests", rows, ROWS, "WORD...", NULL, NULL};

static char path[] = "/tmp/errand-cfg-XXXXXX";
static char *items[ARGS_MAX];
static struct cfg_rest rest = {items, 0};
static char printed[1 << 20];

static void write_file(const char *text)
{
    size_t n = strlen(text);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (fd == -1) {
        memcpy(path, "/tmp/errand-cfg-XXXXXX", sizeof(path));
        fd = mkstemp(path);
    }
    if (fd == -1 || write(fd, text, n) != (ssize_t)n)
        abort();
    (void)close(fd);
}

/* The arguments, up to a NULL, after the program's name. */
static enum cfg_outcome read_args(const struct cfg *c, struct conf *conf, const char *const *args,
                                  struct buf *why)
{
    static char copies[ARGS_MAX][256];
    char *argv[ARGS_MAX + 1] = {copies[0]};
    int argc = 1;

    *conf = (struct conf){.redis = NULL};
    for (; args[argc - 1] != NULL; argc++) {
        (void)snprintf(copies[argc], sizeof(copies[argc]), "%s", args[argc - 1]);
        argv[argc] = copies[argc];
    }
    buf_init(why, 1000);
    return cfg_read(c, conf, argc, argv, &rest, why);
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

static void done(const struct cfg *c, struct conf *conf, struct buf *why)
{
    cfg_fini(c, conf);
    buf_fini(why);
}

TEST(without_anything_every_option_has_its_default)
{
    struct conf c;
    struct buf why;

    CHECK(read_args(&plain, &c, NO_ARGS, &why) == CFG_READY);
    CHECK(strcmp(c.redis, "default") == 0 && c.max_ttl == 86400000 && !c.facade && c.tools.n == 2);
    CHECK(!cfg_given(&plain, &c, "redis") && !cfg_given(&plain, &c, "tools"));
    done(&plain, &c, &why);
    CHECK(c.redis == NULL && c.tools.n == 0);
}

TEST(a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default)
{
    struct conf c;
    struct buf why;

    write_file("{\"redis\": \"file\", \"max-ttl\": \"3s\", \"tools\": [\"f1\", \"f2\", \"f3\"]}");
    (void)setenv("ERRAND_REDIS", "environment", 1);
    (void)setenv("ERRAND_MAX_TTL", "2s", 1);
    CHECK(read_args(&plain, &c, ARGS("--config", path, "--redis", "flag"), &why) == CFG_READY);
    CHECK(strcmp(c.redis, "flag") == 0 && c.max_ttl == 2000 && c.tools.n == 3 && !c.facade);
    CHECK(cfg_given(&plain, &c, "redis") && cfg_given(&plain, &c, "max-ttl"));
    CHECK(cfg_given(&plain, &c, "tools") && !cfg_given(&plain, &c, "facade"));
    cfg_place(&why, &plain, &c, "redis");
    CHECK(strcmp(why.p, "--redis") == 0);
    buf_reset(&why);
    cfg_place(&why, &plain, &c, "max-ttl");
    CHECK(strcmp(why.p, "ERRAND_MAX_TTL") == 0);
    buf_reset(&why);
    cfg_place(&why, &plain, &c, "tools");
    CHECK(strncmp(why.p, path, strlen(path)) == 0 && strstr(why.p, ": \"tools\"") != NULL);
    done(&plain, &c, &why);
    CHECK(read_args(&plain, &c, ARGS("--redis=a", "--redis=b"), &why) == CFG_READY);
    CHECK(strcmp(c.redis, "b") == 0);
    done(&plain, &c, &why);
    (void)unsetenv("ERRAND_REDIS");
    (void)unsetenv("ERRAND_MAX_TTL");
    (void)unlink(path);
}

TEST(the_file_can_be_named_by_the_environment_and_an_empty_variable_is_none)
{
    struct conf c;
    struct buf why;

    write_file("{\"redis\": \"file\"}");
    (void)setenv("ERRAND_CONFIG", path, 1);
    (void)setenv("ERRAND_MAX_TTL", "", 1);
    CHECK(read_args(&plain, &c, NO_ARGS, &why) == CFG_READY);
    CHECK(strcmp(c.redis, "file") == 0 && c.max_ttl == 86400000);
    done(&plain, &c, &why);
    (void)setenv("ERRAND_CONFIG", "", 1);
    CHECK(read_args(&plain, &c, NO_ARGS, &why) == CFG_READY);
    CHECK(strcmp(c.redis, "default") == 0);
    done(&plain, &c, &why);
    (void)unsetenv("ERRAND_CONFIG");
    (void)unsetenv("ERRAND_MAX_TTL");
    (void)unlink(path);
}

TEST(of_a_list_the_strongest_place_counts_alone_and_flags_add_up)
{
    struct conf c;
    struct buf why;

    (void)setenv("ERRAND_TOOLS", "e1,e2,e3", 1);
    CHECK(read_args(&plain, &c, NO_ARGS, &why) == CFG_READY);
    CHECK(c.tools.n == 3);
    done(&plain, &c, &why);
    CHECK(read_args(&plain, &c, ARGS("--tools", "x", "--tools=y,z"), &why) == CFG_READY);
    REQUIRE(c.tools.n == 3);
    CHECK(strcmp(c.tools.items[0], "x") == 0 && strcmp(c.tools.items[2], "z") == 0);
    done(&plain, &c, &why);
    (void)unsetenv("ERRAND_TOOLS");
}

TEST(a_bool_is_on_by_its_bare_flag)
{
    static const struct {
        const char *args[3];
        bool on;
    } forms[] = {{{"--facade"}, true},       {{"--facade=on"}, true},
                 {{"--facade", "on"}, true}, {{"--facade", "off"}, false},
                 {{"--facade=off"}, false},  {{"--facade", "--facade=off"}, false}};
    struct conf c;
    struct buf why;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        CHECK(read_args(&plain, &c, forms[i].args, &why) == CFG_READY);
        CHECK(c.facade == forms[i].on);
        done(&plain, &c, &why);
    }
    CHECK(read_args(&with_rest, &c, ARGS("--facade", "off"), &why) == CFG_READY);
    CHECK(c.facade && rest.n == 1 && strcmp(items[0], "off") == 0);
    done(&with_rest, &c, &why);
}

TEST(positional_arguments_are_left_in_order_and_end_flags_after_two_dashes)
{
    struct conf c;
    struct buf why;

    CHECK(read_args(&with_rest, &c,
                    ARGS("call", "--redis", "r", "-", "{\"a\":1}", "--", "--redis", "-x"),
                    &why) == CFG_READY);
    REQUIRE(rest.n == 5);
    CHECK(strcmp(items[0], "call") == 0 && strcmp(items[1], "-") == 0);
    CHECK(strcmp(items[2], "{\"a\":1}") == 0 && strcmp(items[3], "--redis") == 0);
    CHECK(strcmp(items[4], "-x") == 0 && strcmp(c.redis, "r") == 0);
    done(&with_rest, &c, &why);
}

static const struct {
    const char *args[4];
    const char *sentence;
} bad[] = {
    {{"--rediss", "x"}, "--rediss: errand-test has no such option; did you mean --redis?"},
    {{"--verbose=hunter2"}, "--verbose: errand-test has no such option; --help prints them all"},
    {{"-v"}, "-v: errand-test has no such option; --help prints them all"},
    {{"--redis"}, "--redis: it needs a value; write --redis VALUE or --redis=VALUE"},
    {{"--redis", "--facade"}, "--redis: it needs a value; write --redis VALUE or --redis=VALUE"},
    {{"--redis", ""}, "--redis: must not be empty"},
    {{"--redis="}, "--redis: must not be empty"},
    {{"--max-ttl", "30"},
     "--max-ttl: \"30\" has no unit; write a whole number and a unit: 500ms, 10s, 5m, 24h or 7d"},
    {{"--max-ttl", "-1s"},
     "--max-ttl: \"-1s\" is no duration; write a whole number and a unit: 500ms, 10s, 5m, 24h or "
     "7d"},
    {{"--max-ttl", "1ms"}, "--max-ttl: \"1ms\" is too small; the least is 1s"},
    {{"--facade=yes"}, "--facade: \"yes\" is not one of on, off"},
    {{"--tools", "a,,b"},
     "--tools: \"a,,b\" has an empty item; write the items with one comma between them"},
    {{"stray"}, "\"stray\": errand-test takes options only; --help prints them"},
    {{"--facade", "true"}, "\"true\": errand-test takes options only; --help prints them"},
    {{"--docs", "all"}, "--docs: \"all\" is not one of config, events, metrics, sheets"},
    {{"--config"}, "--config: it needs a value; write --config VALUE or --config=VALUE"},
    {{"--config", "/nonexistent"},
     "--config /nonexistent: cannot be read: No such file or directory"},
};

TEST(every_mistake_on_the_command_line_has_its_sentence)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct conf c;
        struct buf why;

        CHECK(read_args(&plain, &c, bad[i].args, &why) == CFG_BAD);
        REQUIRE(why.n != 0);
        CHECK(strcmp(why.p, bad[i].sentence) == 0);
        if (strcmp(why.p, bad[i].sentence) != 0)
            printf("%s\n", why.p);
        done(&plain, &c, &why);
    }
}

TEST(a_mistake_in_the_environment_is_named_by_its_variable)
{
    struct conf c;
    struct buf why;

    (void)setenv("ERRAND_MAX_TTL", "30x", 1);
    CHECK(read_args(&plain, &c, ARGS("--max-ttl", "30s"), &why) == CFG_BAD);
    CHECK(strstr(why.p, "ERRAND_MAX_TTL: \"30x\" is no duration; write ") == why.p);
    done(&plain, &c, &why);
    (void)unsetenv("ERRAND_MAX_TTL");
}

TEST(a_mistake_in_the_file_is_found_even_where_a_flag_beats_it)
{
    struct conf c;
    struct buf why;

    write_file("{\"max-ttl\": \"30x\"}");
    CHECK(read_args(&plain, &c, ARGS("--max-ttl", "30s", "--config", path), &why) == CFG_BAD);
    CHECK(strstr(why.p, ": \"max-ttl\": \"30x\" is no duration; write ") != NULL);
    done(&plain, &c, &why);
    (void)unlink(path);
}

/* What cfg_read prints, in `printed`. */
static enum cfg_outcome read_printing(const char *const *args)
{
    struct conf c;
    struct buf why;
    enum cfg_outcome outcome;
    FILE *f = tmpfile();
    int saved;

    if (f == NULL)
        abort();
    (void)fflush(stdout);
    saved = dup(STDOUT_FILENO);
    (void)dup2(fileno(f), STDOUT_FILENO);
    outcome = read_args(&plain, &c, args, &why);
    (void)dup2(saved, STDOUT_FILENO);
    (void)close(saved);
    rewind(f);
    printed[fread(printed, 1, sizeof(printed) - 1, f)] = '\0';
    (void)fclose(f);
    done(&plain, &c, &why);
    return outcome;
}

TEST(what_only_asks_for_text_prints_it_and_is_done)
{
    static const struct {
        const char *args[3];
        const char *start;
    } forms[] = {
        {{"--help"}, "errand-test - tests\n"},
        {{"-h"}, "errand-test - tests\n"},
        {{"--redis=", "--help"}, "errand-test - tests\n"},
        {{"--version"}, "errand-test " ERRAND_VERSION "\n"},
        {{"--docs", "config"}, "## errand-test\n"},
        {{"--docs=events"}, "# Events\n"},
        {{"--docs", "metrics"}, "# Metrics\n"},
        {{"--docs", "sheets"}, "# Sheets\n"},
    };

    (void)setenv("ERRAND_MAX_TTL", "wrong", 1); /* must not stand in the way */
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        CHECK(read_printing(forms[i].args) == CFG_DONE);
        CHECK(strncmp(printed, forms[i].start, strlen(forms[i].start)) == 0);
    }
    (void)unsetenv("ERRAND_MAX_TTL");
}
