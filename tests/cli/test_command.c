/* What does not reach a broker or Redis: usage and mistakes. */
#include "deploy/cli/command.h"

#include "tests/lib/prog.h"
#include "tests/lib/test.h"

#include <string.h>

static struct prog p;

static int run(const char *const *words)
{
    prog_start(&p, words, NULL, NULL);
    return prog_end(&p, 10000) ? p.status : -1;
}

#define RUN(...) run((const char *const[]){"errand", __VA_ARGS__, NULL})

static bool is_one_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end != NULL && end[1] == '\0';
}

TEST(bad_usage_is_status_2_and_one_line)
{
    static const char *const rows[][4] = {
        {"nosuch", NULL},
        {"call", NULL},
        {"get", NULL},
        {"get", "a", "b", NULL},
        {"tools", "x", NULL},
        {"call", "t", "{", NULL},
        {"call", "t", "[1]", NULL},
        {"dead", "bury", NULL},
        {"dead", "drop", NULL},
        {"key", "steal", NULL},
        {"key", "new", NULL},
        {"key", "new", "--name=a b", NULL},
        {"key", "new", "--name=a", "--scopes=everything"},
        {"tools", "--url=ftp://x", NULL},
        {"queue", "--redis=http://x", NULL},
        {"queue", "--prefix={x}", NULL},
        {"queue", "--nosuch", NULL},
        {"call", "t", "--ttl=soon", NULL},
        {"tools", "--run=t", NULL},
        {"tasks", "--detach", NULL},
        {"help", "nosuch", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(RUN(rows[i][0], rows[i][1], rows[i][1] != NULL ? rows[i][2] : NULL,
                  rows[i][1] != NULL && rows[i][2] != NULL ? rows[i][3] : NULL) == 2);
        CHECK(is_one_line(p.err) && strncmp(p.err, "errand: ", 8) == 0 && p.out[0] == '\0');
        prog_fini(&p);
    }
}

TEST(every_command_is_listed)
{
    struct buf list;

    buf_init(&list, 1 << 16);
    command_list(&list);
    CHECK(RUN("help") == 0 && strcmp(p.out, list.p) == 0);
    prog_fini(&p);
    CHECK(run((const char *const[]){"errand", NULL}) == 2 && strcmp(p.err, list.p) == 0);
    prog_fini(&p);
    CHECK(strstr(list.p, "doctor") != NULL && strstr(list.p, "call") != NULL);
    buf_fini(&list);
    CHECK(RUN("help", "top") == 0 && strncmp(p.out, "usage: errand top [OPTION...]\n", 30) == 0);
    CHECK(strstr(p.out, "every second") != NULL && strstr(p.out, "dead") == NULL);
    prog_fini(&p);
    CHECK(RUN("--version") == 0 && strncmp(p.out, "errand ", 7) == 0);
    prog_fini(&p);
    CHECK(RUN("--help") == 0 && strstr(p.out, "--secret-file") != NULL);
    CHECK(strstr(p.out, "errand help lists the commands") != NULL);
    prog_fini(&p);
}

TEST(what_cannot_be_reached_is_status_1_and_one_line)
{
    CHECK(RUN("tools", "--url=http://127.0.0.1:1/mcp") == 1 && is_one_line(p.err));
    prog_fini(&p);
    CHECK(RUN("call", "x", "--url=http://127.0.0.1:1/mcp") == 1 && is_one_line(p.err));
    prog_fini(&p);
    CHECK(RUN("queue", "--redis=redis://127.0.0.1:1") == 1 && is_one_line(p.err));
    CHECK(strstr(p.err, "refused") != NULL);
    prog_fini(&p);
    CHECK(RUN("doctor", "--redis=unix:///nonexistent") == 1 && is_one_line(p.err));
    prog_fini(&p);
}
