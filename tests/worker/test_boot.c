#include "worker/boot.h"

#include "tests/lib/proc.h"
#include "tests/lib/serve.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct bench b;
static struct serving w;

TEST(the_example_serves_echo)
{
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    serve_start(&w, &b, NULL, NULL);
    id = bench_call(&b, "echo", "{\"text\":\"h\\u00e9 \\\"you\\\"\"}");
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_RESULT && !t.is_error);
    CHECK(strcmp(t.outcome, "{\"content\":[{\"type\":\"text\",\"text\":\"h\xc3\xa9 \\\"you\\\"\"}],"
                            "\"isError\":false}") == 0);
    id = bench_call(&b, "echo", "{}");
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(t.state == TASK_RESULT && t.is_error);
    CHECK(strcmp(t.message, "\"text\" must be a string without U+0000") == 0);
    CHECK(serve_term(&w, 10000) == 0);
    bench_stop(&b);
}

/* Runs a program to its end; its exit code, and what it printed. */
static int run(const char *const *argv, char *out, size_t room)
{
    static const char log[] = "/tmp/errand-boot-test.log";
    int pid;
    int code;
    size_t n = 0;
    FILE *f;

    (void)unlink(log);
    pid = proc_start(argv, log);
    code = proc_wait(pid, 10000);
    f = fopen(log, "re");
    if (f != NULL) {
        n = fread(out, 1, room - 1, f);
        (void)fclose(f);
    }
    out[n] = '\0';
    (void)unlink(log);
    return code;
}

static const struct {
    const char *argv[6];
    const char *says;
} bad[] = {
    {{ERRAND_BIN "/errand-worker", NULL}, "errand-worker: --tools: it is missing; write"},
    {{ERRAND_BIN "/errand-worker", "--tools", "/nowhere/t.json", NULL},
     "errand-worker: /nowhere/t.json: cannot be read: No such file"},
    {{ERRAND_BIN "/errand-worker", "--tools", "/dev/null", NULL},
     "errand-worker: /dev/null: line 1"},
    {{ERRAND_BIN "/errand-worker", "--tools", ERRAND_SOURCE "/tests/worker/none.json", NULL},
     "errand-worker: " ERRAND_SOURCE "/tests/worker/none.json: there is no tool to serve; declare"},
    {{ERRAND_BIN "/errand-example", "--tools", "t.json", NULL}, "errand-example: --tools"},
    {{ERRAND_BIN "/errand-example", "--lease", "5 parsecs", NULL}, "errand-example: --lease"},
    {{ERRAND_BIN "/errand-example", "--redis", "http://x", NULL}, "errand-example: --redis"},
};

TEST(bad_configuration_is_one_line_and_exit_2)
{
    char out[8192];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *newline;

        CHECK(run(bad[i].argv, out, sizeof(out)) == 2);
        CHECK(strncmp(out, bad[i].says, strlen(bad[i].says)) == 0);
        newline = strchr(out, '\n');
        CHECK(newline != NULL && newline[1] == '\0');
        if (strncmp(out, bad[i].says, strlen(bad[i].says)) != 0)
            printf("%s    lacks: %s\n", out, bad[i].says);
    }
}

TEST(help_goes_out_with_0)
{
    const char *const argv[] = {ERRAND_BIN "/errand-example", "--help", NULL};
    char out[65536];

    CHECK(run(argv, out, sizeof(out)) == 0);
    CHECK(strstr(out, "--slots") != NULL && strstr(out, "--tools") == NULL);
}
