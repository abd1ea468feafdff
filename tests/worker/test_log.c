#include "worker/log.h"

#include "tests/lib/proc.h"
#include "tests/lib/serve.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

static struct bench b;
static struct serving w;

/* Everything that any stream has carried. */
static char *carried(void)
{
    static char text[1 << 20];
    redisReply *r = redisCommand(
        b.redis.c, "EVAL %s 0",
        "local out = {} for _, k in ipairs(redis.call('KEYS', '*:sx:*')) do for _, e in "
        "ipairs(redis.call('XRANGE', k, '-', '+')) do out[#out + 1] = e[2][2] end end return "
        "table.concat(out, '\\n')");

    (void)snprintf(text, sizeof(text), "%s",
                   r != NULL && r->type == REDIS_REPLY_STRING ? r->str : "");
    freeReplyObject(r);
    return text;
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
        n++;
    return n;
}

static void run(const char *script, char dialect)
{
    char tools[1024];
    struct bench_task t;
    const char *id;

    bench_start(&b, 0);
    (void)snprintf(tools, sizeof(tools),
                   "{\"tools\":[{\"name\":\"run\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"run\":{\"command\":[\"sh\",\"-c\",\"%s\"]}}]}",
                   script);
    serve_start(&w, &b, tools, NULL);
    id = bench_create(&b, &(struct bench_create){.tool = "run",
                                                 .dialect = dialect,
                                                 .hidden = true,
                                                 .stream = "stream00",
                                                 .token = "\"tok\"",
                                                 .session = "s"});
    CHECK(bench_ended(&b, id, 10000, &t));
    CHECK(serve_term(&w, 10000) == 0);
}

#define LINE(level, i) \
    "{\\\\\\\"jsonrpc\\\\\\\":\\\\\\\"2.0\\\\\\\",\\\\\\\"method\\\\\\\":\\\\\\\"notifications/" \
    "message\\\\\\\",\\\\\\\"params\\\\\\\":{\\\\\\\"level\\\\\\\":\\\\\\\"" level \
    "\\\\\\\",\\\\\\\"data\\\\\\\":" i "}}"

TEST(U_16_fifty_lines_a_second_and_one_that_says_how_many_are_missing)
{
    const char *all;

    run("i=0; while [ $i -lt 80 ]; do echo \\\"" LINE("info", "$i") "\\\" >&3; i=$((i+1)); done",
        'L');
    all = carried();
    CHECK(count(all, "\"level\":\"info\"") == LOGS_A_SECOND);
    CHECK(count(all, "\"level\":\"warning\",\"logger\":\"errand\",\"data\":\"30 log lines were "
                     "dropped here\"") == 1);
    bench_stop(&b);
}

TEST(U_14_a_level_below_the_sessions_is_not_sent)
{
    const char *all;

    run("echo \\\"" LINE("debug", "1") "\\\" >&3; echo \\\"" LINE("error", "2") "\\\" >&3", 'L');
    all = carried();
    CHECK(count(all, "\"level\":\"debug\"") == 0);
    CHECK(count(all, "\"level\":\"error\",\"data\":2") == 1);
    bench_stop(&b);
}
