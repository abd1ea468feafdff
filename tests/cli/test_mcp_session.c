#include "deploy/cli/mcp.h"

#include "deploy/cli/stop.h"
#include "tests/lib/mcpd.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct mcpd d;
static struct mcp *m;
static struct mcp_reply reply;
static struct buf why;

static void start(const char *key)
{
    mcpd_start(&d);
    stop_init();
    m = mcp_new(d.url, key);
    mcp_reply_init(&reply);
    buf_init(&why, 4096);
    buf_adds(&why, "");
}

static void stop(void)
{
    mcp_free(m);
    mcp_reply_fini(&reply);
    buf_fini(&why);
    mcpd_stop(&d);
}

static enum mcp_end call(void)
{
    return mcp_call(m, "tools/list", SPAN("{}"), NULL, NULL, &reply, &why);
}

TEST(a_session_is_opened_used_and_deleted)
{
    start("erk_x");
    CHECK(mcp_open(m, &why) == MCP_RESULT);
    CHECK(mcp_has_tasks(m) && mcp_has_list(m));
    CHECK(mcpd_count(&d, "initialize") == 1);
    CHECK(mcpd_count(&d, "notifications/initialized") == 1);
    CHECK(call() == MCP_RESULT && span_is(reply.value, "{}"));
    CHECK(strcasestr(d.s->head, "mcp-session-id: session-1") != NULL);
    CHECK(strcasestr(d.s->head, "mcp-protocol-version: 2025-11-25") != NULL);
    CHECK(strcasestr(d.s->head, "authorization: Bearer erk_x") != NULL);
    CHECK(strcasestr(d.s->head, "accept: application/json, text/event-stream") != NULL);
    mcp_free(m);
    CHECK(d.s->deleted == 1);
    m = NULL;
    stop();
}

TEST(a_broker_of_an_older_revision_is_spoken_to_without_tasks)
{
    start(NULL);
    (void)snprintf(d.s->version, sizeof(d.s->version), "2025-06-18");
    CHECK(mcp_open(m, &why) == MCP_RESULT);
    CHECK(!mcp_has_tasks(m) && !mcp_has_list(m));
    CHECK(call() == MCP_RESULT);
    CHECK(strcasestr(d.s->head, "mcp-protocol-version: 2025-06-18") != NULL);
    CHECK(strcasestr(d.s->head, "authorization:") == NULL);
    stop();
}

TEST(an_unknown_revision_is_refused)
{
    start(NULL);
    (void)snprintf(d.s->version, sizeof(d.s->version), "1999-01-01");
    CHECK(mcp_open(m, &why) == MCP_BROKEN && why.n > 0);
    stop();
}

TEST(H_28_a_forgotten_session_is_made_again)
{
    start(NULL);
    CHECK(call() == MCP_RESULT);
    d.s->forget = 1;
    CHECK(call() == MCP_RESULT);
    CHECK(d.s->initialized == 2);
    CHECK(strcasestr(d.s->head, "mcp-session-id: session-2") != NULL);
    stop();
}

TEST(a_busy_broker_and_a_lost_answer_are_tried_again)
{
    start(NULL);
    CHECK(call() == MCP_RESULT);
    d.s->busy = 2;
    d.s->cut = 2;
    CHECK(call() == MCP_RESULT);
    CHECK(d.s->busy == 0 && d.s->cut == 0);
    CHECK(mcpd_count(&d, "tools/list") == 6);
    stop();
}

TEST(patience_counts_from_the_end_of_an_answer_that_had_begun)
{
    start(NULL);
    CHECK(call() == MCP_RESULT);
    mcp_set_patience(m, 2000);
    d.s->begin = 1;
    d.s->begin_ms = 2200;
    d.s->cut = 2;
    CHECK(call() == MCP_RESULT);
    CHECK(d.s->begin == 0 && mcpd_count(&d, "tools/list") == 5);
    d.s->begin = 1000; /* at once: nobody is served, and it ends */
    d.s->begin_ms = 0;
    CHECK(call() == MCP_LOST && d.s->begin > 900);
    stop();
}

TEST(a_broker_that_was_never_reached_is_not_waited_for)
{
    start(NULL);
    mcpd_kill(&d);
    CHECK(call() == MCP_LOST);
    CHECK(strstr(why.p, "127.0.0.1") != NULL);
    stop();
}

TEST(a_refused_key_is_told_at_once)
{
    start("bad");
    CHECK(call() == MCP_RESULT);
    d.s->deny = 1;
    CHECK(call() == MCP_DENIED && strstr(why.p, "--key") != NULL);
    stop();
}

static bool was_asked(void *arg)
{
    (void)arg;
    return d.s->busy < 1000;
}

TEST(ctrl_c_ends_the_waiting)
{
    start(NULL);
    CHECK(call() == MCP_RESULT);
    d.s->busy = 1000;
    d.s->retry_s = 60;
    if (fork() == 0) {
        (void)wait_for(10000, was_asked, NULL);
        (void)kill(getppid(), SIGINT);
        _exit(0);
    }
    CHECK(call() == MCP_STOPPED);
    stop();
}

static void interrupt_once_asked(void *arg)
{
    unsigned *left = arg;

    if (!was_asked(NULL) || *left == 0)
        return;
    /* The answer has come by now or comes with the next turn: the signal is there with it. */
    if (--*left == 0)
        (void)raise(SIGINT);
}

TEST(ctrl_c_that_comes_with_the_answer_ends_the_waiting_too)
{
    for (unsigned turns = 1; turns <= 2; turns++) {
        unsigned left = 0;
        const struct mcp_peer peer = {.turn = interrupt_once_asked, .arg = &left};

        start(NULL);
        mcp_set_peer(m, &peer);
        CHECK(call() == MCP_RESULT);
        d.s->busy = 1000;
        d.s->retry_s = 60;
        left = turns;
        CHECK(call() == MCP_STOPPED);
        stop();
    }
}
