#include "common/cfg_file.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct conf {
    struct cfg_base base;
    char *redis;
    uint64_t lease;
    uint64_t max_body;
    uint64_t slots;
    uint64_t rate;
    bool facade;
    struct cfg_list tools;
};

static const struct cfg_row rows[] = {
    {"redis", CFG_TEXT, offsetof(struct conf, redis), NULL, 0, 0, NULL, ""},
    {"lease", CFG_TIME, offsetof(struct conf, lease), NULL, 0, 3600000, NULL, ""},
    {"max-body", CFG_SIZE, offsetof(struct conf, max_body), NULL, 0, 0, NULL, ""},
    {"slots", CFG_COUNT, offsetof(struct conf, slots), NULL, 1, 1024, NULL, ""},
    {"rate", CFG_RATE, offsetof(struct conf, rate), NULL, 0, 0, NULL, ""},
    {"facade", CFG_BOOL, offsetof(struct conf, facade), NULL, 0, 0, NULL, ""},
    {"tools", CFG_LIST, offsetof(struct conf, tools), NULL, 0, 0, NULL, ""},
};

static const struct cfg table = {"errand-test", "tests", rows, sizeof(rows) / sizeof(rows[0]),
                                 NULL,          NULL,    NULL};

static void clear(struct conf *c)
{
    for (size_t i = 0; i < table.count; i++)
        cfg_row_clear(&rows[i], c);
}

/* Reads text as the file; why gets the sentence with the file's path cut off. */
static bool read_text(struct conf *c, const char *text, struct buf *why)
{
    char path[] = "/tmp/errand-cfg-XXXXXX";
    size_t n = strlen(text);
    int fd = mkstemp(path);
    bool ok;
    char *at;

    if (fd == -1 || write(fd, text, n) != (ssize_t)n)
        abort();
    (void)close(fd);
    ok = cfg_file_read(&table, c, path, why);
    (void)unlink(path);
    at = why->n != 0 ? strstr(why->p, path) : NULL;
    if (at != NULL) {
        at += strlen(path);
        memmove(why->p, at, strlen(at) + 1);
    }
    return ok;
}

TEST(a_member_of_each_type_is_read_and_marked)
{
    struct conf c = {.lease = 0};
    struct buf why;

    buf_init(&why, 1000);
    CHECK(read_text(&c,
                    "\n{\"redis\": \"redis:\\/\\/h\", \"lease\": \"10s\", \"max-body\": 4096,\n"
                    "\"slots\": 8.0, \"rate\": \"5/s\", \"facade\": true, \"tools\": [\"a,b\", "
                    "\"c\"]}\r\n",
                    &why));
    CHECK(why.n == 0);
    CHECK(strcmp(c.redis, "redis://h") == 0 && c.lease == 10000 && c.max_body == 4096);
    CHECK(c.slots == 8 && c.rate == 5000 && c.facade && c.tools.n == 2);
    CHECK(strcmp(c.tools.items[0], "a,b") == 0 && strcmp(c.tools.items[1], "c") == 0);
    for (size_t i = 0; i < table.count; i++)
        CHECK(c.base.from[i] == CFG_FROM_FILE);
    clear(&c);
    buf_fini(&why);
}

TEST(strings_are_read_like_flags_and_zero_needs_no_unit)
{
    struct conf c = {.lease = 77};
    struct buf why;

    buf_init(&why, 1000);
    CHECK(read_text(&c,
                    "{\"lease\": 0, \"max-body\": \"1m\", \"slots\": \"8\", \"rate\": 0, "
                    "\"facade\": \"on\", \"tools\": \"a,b\"}",
                    &why));
    CHECK(c.lease == 0 && c.max_body == 1048576 && c.slots == 8 && c.rate == 0 && c.facade);
    CHECK(c.tools.n == 2);
    CHECK(c.base.from[0] == CFG_FROM_DEFAULT && c.base.from[1] == CFG_FROM_FILE);
    clear(&c);
    CHECK(read_text(&c, "{}", &why));
    clear(&c);
    buf_fini(&why);
}

static const struct {
    const char *text;
    const char *sentence;
} bad[] = {
    {"", ": line 1: it is not valid JSON"},
    {"{\n\"lease\": 10s}", ": line 2: it is not valid JSON"},
    {"{\"lease\": \"10s\",}", "it is not valid JSON"},
    {"[]", ": must hold one JSON object, like {"},
    {"\"x\"", ": must hold one JSON object"},
    {"{\"leese\": \"10s\"}",
     ": \"leese\": errand-test has no such option; did you mean \"lease\"?"},
    {"{\"Lease\": \"10s\"}", "has no such option; did you mean \"lease\"?"},
    {"{\"verbose\": true}", ": \"verbose\": errand-test has no such option"},
    {"{\"config\": \"x\"}", ": \"config\": errand-test has no such option"},
    {"{\"lease\": \"1s\", \"lease\": \"1s\"}", ": \"lease\": it stands there twice; keep one"},
    {"{\"lease\": 10}", ": \"lease\": found 10; write a string like \"10s\""},
    {"{\"lease\": \"10\"}", ": \"lease\": \"10\" has no unit; write"},
    {"{\"lease\": \"2h\"}", ": \"lease\": \"2h\" is too large; the most is 1h"},
    {"{\"lease\": null}", ": \"lease\": found null; write a string"},
    {"{\"lease\": true}", "found true; write a string"},
    {"{\"lease\": [\"10s\"]}", "found an array; write a string"},
    {"{\"lease\": {\"s\": 10}}", "found an object; write a string"},
    {"{\"redis\": 6379}", ": \"redis\": found 6379; write a string"},
    {"{\"redis\": \"a\\u0000hunter2\"}", ": \"redis\": found a string that cannot be used"},
    {"{\"slots\": 1.5}", ": \"slots\": found 1.5; write a whole number"},
    {"{\"slots\": -1}", "found -1; write a whole number"},
    {"{\"slots\": 1e99}", "found 1e99; write a whole number"},
    {"{\"slots\": 0}", ": \"slots\": \"0\" is too small; the least is 1"},
    {"{\"slots\": 9007199254740992}", "is too large"},
    {"{\"max-body\": true}", "found true; write a number of bytes or a string like \"16m\""},
    {"{\"rate\": 5}", ": \"rate\": found 5; write a string like \"5/s\""},
    {"{\"facade\": 1}", ": \"facade\": found 1; write true or false"},
    {"{\"facade\": \"yes\"}", "\"yes\" is not one of on, off"},
    {"{\"tools\": 1}", ": \"tools\": found 1; write an array of strings"},
    {"{\"tools\": [\"a\", 1]}", "found an item that is empty or no string"},
    {"{\"tools\": [\"\"]}", "found an item that is empty or no string"},
    {"{\"tools\": \"\"}", "has an empty item"},
};

TEST(every_mistake_in_the_file_is_named_by_file_and_member)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct conf c = {.lease = 0};
        struct buf why;

        buf_init(&why, 1000);
        CHECK(!read_text(&c, bad[i].text, &why));
        REQUIRE(why.n != 0);
        CHECK(strstr(why.p, bad[i].sentence) != NULL && strstr(why.p, "hunter2") == NULL);
        if (strstr(why.p, bad[i].sentence) == NULL)
            printf("%s: %s\n", bad[i].text, why.p);
        clear(&c);
        buf_fini(&why);
    }
}

TEST(a_file_that_is_not_there_no_file_or_too_large_is_refused)
{
    struct conf c = {.lease = 0};
    struct buf why;
    char *big = malloc(2 << 20);

    buf_init(&why, 1000);
    CHECK(!cfg_file_read(&table, &c, "/nonexistent/broker.json", &why));
    CHECK(strcmp(why.p, "--config /nonexistent/broker.json: cannot be read: No such file or "
                        "directory") == 0);
    buf_reset(&why);
    CHECK(!cfg_file_read(&table, &c, "/tmp", &why));
    CHECK(strstr(why.p, "--config /tmp: cannot be read: Is a directory") != NULL);
    buf_reset(&why);
    REQUIRE(big != NULL);
    memset(big, ' ', (2 << 20) - 1);
    big[(2 << 20) - 1] = '\0';
    CHECK(!read_text(&c, big, &why));
    CHECK(strstr(why.p, "is larger than 1048576 bytes") != NULL);
    free(big);
    buf_fini(&why);
}
