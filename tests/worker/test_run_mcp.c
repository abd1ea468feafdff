#include "worker/run/mcp.h"

#include "common/clock.h"
#include "common/json.h"
#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/test.h"
#include "worker/tools.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A server in a few lines of shell. A call's arguments are lines of shell, too: they see $id and
 * $token, and `say` says something. */
static const char script[] =
    "say() { printf '%s\\n' \"{\\\"jsonrpc\\\":\\\"2.0\\\",$1}\"; }\n"
    "text() { say \"\\\"id\\\":$id,\\\"result\\\":{\\\"content\\\":[{\\\"type\\\":\\\"text\\\","
    "\\\"text\\\":\\\"$1\\\"}]}\"; }\n"
    "cut() { printf '%s' \"$line\" | sed -n \"s/.*\\\"$1\\\":\\([^,}]*\\).*/\\1/p\"; }\n"
    "while IFS= read -r line; do\n"
    "  id=$(cut id); token=$(cut progressToken)\n"
    "  case $line in\n"
    "  *'\"initialize\"'*) say "
    "\"\\\"id\\\":$id,\\\"result\\\":{\\\"protocolVersion\\\":\\\"${VERSION:-2025-11-25}"
    "\\\",\\\"capabilities\\\":{\\\"tools\\\":{}}}\";;\n"
    "  *'\"tools/list\"'*) lists=$((lists + 1)); say "
    "\"\\\"id\\\":$id,\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"t\\\","
    "\\\"inputSchema\\\":{\\\"type\\\":\\\"object\\\"}}]}\"\n"
    "    [ -z \"$CHATTY\" ] || say '\"method\":\"notifications/tools/list_changed\"';;\n"
    "  *'\"do\":\"lists\"'*) text \"$lists\";;\n"
    "  *'\"do\":\"hello\"'*) text hello;;\n"
    "  *'\"do\":\"pid\"'*) text $$;;\n"
    "  *'\"do\":\"line\"'*) text \"$(printf '%s' \"$line\" | tr -d '\"')\";;\n"
    "  *'\"do\":\"error\"'*) say "
    "\"\\\"id\\\":$id,\\\"error\\\":{\\\"code\\\":-5,\\\"message\\\":\\\"no"
    "\\\"}\";;\n"
    "  *'\"do\":\"bad\"'*) say \"\\\"id\\\":$id,\\\"error\\\":{\\\"code\\\":-5}\";;\n"
    "  *'\"do\":\"big\"'*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"x\":\"' \"$id\";"
    " head -c 26000000 /dev/zero | tr '\\0' x; echo '\"}}';;\n"
    "  *'\"do\":\"update\"'*) say '\"method\":\"notifications/resources/updated\",\"params\":{"
    "\"uri\":\"x://a/b\"}'; text updated;;\n"
    "  *'\"do\":\"batch\"'*) printf '[%s,%s]\\n' \"$(say "
    "'\"method\":\"notifications/progress\",\"params\":"
    "{\"progressToken\":'$token',\"progress\":1}')\" \"$(text both)\";;\n"
    "  *'\"do\":\"mute\"'*) exec >&-;;\n"
    "  *'\"do\":\"odd\"'*) say \"\\\"id\\\":$id,\\\"result\\\":{\\\"a\\\":1}\";;\n"
    "  *'\"do\":\"die\"'*) echo oh >&2; exit 7;;\n"
    "  *'\"do\":\"never\"'*) ;;\n"
    "  *'\"do\":\"tell\"'*) say \"\\\"method\\\":\\\"notifications/progress\\\",\\\"params\\\":{"
    "\\\"progressToken\\\":$token,\\\"progress\\\":1}\"; say "
    "\"\\\"method\\\":\\\"notifications/message"
    "\\\",\\\"params\\\":{\\\"level\\\":\\\"info\\\",\\\"data\\\":7}\"; text told;;\n"
    "  *'\"do\":\"ask\"'*) asking=$id; say '\"id\":\"q\",\"method\":\"roots/list\"';;\n"
    "  *'\"do\":\"ask and tell\"'*) asking=$id; say '\"id\":\"q\",\"method\":\"roots/list\"'; say "
    "\"\\\"method\\\":\\\"notifications/progress\\\",\\\"params\\\":{"
    "\\\"progressToken\\\":$token,\\\"progress\\\":1}\";;\n"
    "  *'\"id\":\"q\"'*) id=$asking; text answered;;\n"
    "  esac\n"
    "done\n";

enum { JOBS = 4 };

static struct event_base *base;
static struct children *set;
static struct servers *servers;
static struct runner *runner;
static struct tools declared;
static struct tools offered;
static struct run_job jobs[JOBS];
static struct tool *held[JOBS]; /* as slots hold theirs */

static struct seen {
    unsigned ends;
    bool passing;
    bool is_error;
    bool rpc_error;
    char text[8192];
} seen[JOBS];
static unsigned said;
static unsigned logged;
static unsigned asked;

static void on_ended(struct run_job *job, const struct run_end *end)
{
    struct seen *s = &seen[job - jobs];

    s->ends++;
    s->passing = end->passing;
    s->is_error = end->is_error;
    s->rpc_error = end->rpc_error;
    (void)snprintf(s->text, sizeof(s->text), "%s", end->passing ? end->why : end->result);
    free(end->result);
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    (void)job;
    (void)message;
    said += span_is(progress, "{\"progress\":1}");
}

static void on_logged(struct run_job *job, struct span level, struct span logger, struct span data)
{
    (void)job;
    (void)logger;
    logged += span_is(level, "info") && span_is(data, "7");
}

static void on_asked(struct run_job *job, struct span id, struct span method, struct span params)
{
    (void)params;
    asked += span_is(id, "\"q\"") && span_is(method, "roots/list");
    runner->answered(runner, job, id, SPAN("{\"result\":{\"roots\":[]}}"));
}

static void on_withdrew(struct run_job *job, struct span id)
{
    (void)job;
    (void)id;
}

static const struct run_sink sink = {.ended = on_ended,
                                     .said = on_said,
                                     .logged = on_logged,
                                     .asked = on_asked,
                                     .withdrew = on_withdrew};

static void on_changed(void *arg)
{
    (void)arg;
    tools_fini(&offered);
    servers_offer(servers, &offered);
}

static unsigned updated;

static void on_updated(void *arg, const char *server, struct span uri)
{
    (void)arg;
    updated += strcmp(server, "s") == 0 && span_is(uri, "x://a/b");
}

static const struct servers_sink on_servers = {.changed = on_changed, .updated = on_updated};

static bool has_offer(void *arg)
{
    (void)arg;
    return offered.n > 0;
}

static void declare(const char *more)
{
    const struct tool_source src = {.where = "t.json", .dir = "/tmp", .run = TOOL_COMMAND};
    struct buf text;
    struct buf why;

    buf_init(&text, 65536);
    buf_init(&why, 8192);
    buf_adds(&text, "{\"command\":\"sh\",\"args\":[\"-c\",");
    buf_add_json(&text, span_of(script));
    buf_addf(&text, "]%s}", more);
    declared.servers = malloc(sizeof(struct tool_server *));
    declared.servers[0] = tool_server_read(SPAN("s"), buf_span(&text), &src, &why);
    declared.server_n = 1;
    if (declared.servers[0] == NULL)
        printf("%s\n", buf_span(&why).p);
    buf_fini(&text);
    buf_fini(&why);
}

static void begin(const char *more)
{
    struct peer_world world = {0};

    memset(seen, 0, sizeof(seen));
    memset(jobs, 0, sizeof(jobs));
    said = logged = asked = 0;
    base = event_base_new();
    set = children_new(base);
    world.base = base;
    world.children = set;
    servers = servers_new(&world, &on_servers, NULL);
    runner = mcp_runner_new(servers, &sink);
    declare(more);
    servers_set(servers, declared.servers, declared.server_n);
    CHECK(turn_until(base, 20000, has_offer, NULL));
}

static void finish(void)
{
    for (int i = 0; i < JOBS; i++) {
        tool_let_go(held[i]);
        held[i] = NULL;
    }
    tools_fini(&offered);
    servers_free(servers);
    children_free(set);
    runner->free(runner);
    tools_fini(&declared);
    event_base_free(base);
}

static void start(unsigned i, const char *arguments)
{
    static const char *const ids[JOBS] = {"task-0", "task-1", "task-2", "task-3"};

    seen[i].ends = 0;
    tool_let_go(held[i]);
    held[i] = tool_hold(offered.v[0]);
    jobs[i] = (struct run_job){.tool = held[i],
                               .id = ids[i],
                               .attempt = 1,
                               .arguments = span_of(arguments),
                               .meta = jobs[i].meta,
                               .principal = "bob",
                               .trace = ""};
    runner->start(runner, &jobs[i]);
}

static bool has_ended(void *arg)
{
    const unsigned *i = arg;

    return seen[*i].ends > 0;
}

static bool ends(unsigned i)
{
    return turn_until(base, 20000, has_ended, &i) && seen[i].ends == 1;
}

static bool run(const char *arguments)
{
    start(0, arguments);
    return ends(0);
}

TEST(B25_a_call_is_a_job_and_its_result_the_outcome)
{
    begin("");
    CHECK(strcmp(offered.v[0]->name, "t") == 0);
    CHECK(run("{\"do\":\"hello\"}") && !seen[0].is_error && strstr(seen[0].text, "hello") != NULL);
    CHECK(run("{\"do\":\"error\"}") && seen[0].rpc_error);
    CHECK(strcmp(seen[0].text, "{\"code\":-5,\"message\":\"no\"}") == 0);
    CHECK(run("{\"do\":\"odd\"}") && seen[0].is_error && !seen[0].rpc_error);
    CHECK(strstr(seen[0].text, "is not what MCP promises") != NULL);
    CHECK(run("{\"do\":\"tell\"}") && said == 1 && logged == 1);
    CHECK(run("{\"do\":\"ask\"}") && asked == 1 && strstr(seen[0].text, "answered") != NULL);
    finish();
}

TEST(what_is_the_brokers_is_not_the_clients_to_say_however_it_is_written)
{
    begin("");
    start(0, "{\"do\":\"hello\"}");
    CHECK(ends(0));
    jobs[1].meta =
        SPAN("{\"progress\\u0054oken\":7,\"dev.errand\\/principal\":\"root\",\"tr\\u0061"
             "ceparent\":\"t\",\"io.modelcontextprotocol\\/related-task\":{},\"mine\":1}");
    start(1, "{\"do\":\"line\"}");
    CHECK(ends(1));
    CHECK(strstr(seen[1].text, ",mine:1,dev.errand/task:task-1") != NULL);
    CHECK(strstr(seen[1].text, "oken:7") == NULL && strstr(seen[1].text, "root") == NULL);
    CHECK(strstr(seen[1].text, "related") == NULL && strstr(seen[1].text, "parent:t") == NULL);
    CHECK(strstr(seen[1].text, "dev.errand/principal:bob") != NULL);
    finish();
}

TEST(an_error_that_is_none_is_said_to_be_none)
{
    begin("");
    CHECK(run("{\"do\":\"bad\"}") && seen[0].is_error && !seen[0].rpc_error);
    CHECK(strstr(seen[0].text, "an error that has no code or no message") != NULL);
    finish();
}

TEST(what_is_no_tool_fails_with_an_error_not_with_a_result_of_a_tool)
{
    struct tool door;

    begin("");
    tool_server_door(declared.servers[0], SPAN("{}"), SPAN("{}"), &door);
    jobs[0] =
        (struct run_job){.tool = &door,
                         .id = "task-0",
                         .attempt = 1,
                         .arguments = SPAN("{\"method\":\"resources/read\",\"params\":{\"do\":"
                                           "\"big\"}}"),
                         .principal = "",
                         .trace = ""};
    runner->start(runner, &jobs[0]);
    CHECK(ends(0) && seen[0].rpc_error && !seen[0].is_error);
    CHECK(strcmp(seen[0].text,
                 "{\"code\":-32603,\"message\":\"the answer is larger than 24 MiB\"}") == 0);
    tool_fini(&door);
    finish();
}

TEST(B25_a_child_that_can_say_nothing_any_more_is_ended_and_started_again)
{
    begin("");
    CHECK(run("{\"do\":\"mute\"}") && seen[0].passing);
    CHECK(strstr(seen[0].text, "went away during the call") != NULL);
    CHECK(run("{\"do\":\"hello\"}") && strstr(seen[0].text, "hello") != NULL);
    finish();
}

TEST(several_messages_as_one_are_several_in_the_revision_that_has_them)
{
    begin(",\"env\":{\"VERSION\":\"2025-03-26\"}");
    CHECK(run("{\"do\":\"batch\"}") && strstr(seen[0].text, "both") != NULL && said == 1);
    finish();
}

TEST(B25_a_child_that_dies_fails_what_is_under_way_and_is_started_again)
{
    begin("");
    start(1, "{\"do\":\"never\"}");
    CHECK(run("{\"do\":\"die\"}") && ends(1));
    for (unsigned i = 0; i < 2; i++)
        CHECK(seen[i].passing &&
              strstr(seen[i].text, "went away during the call: exit status 7; it "
                                   "said last: oh") != NULL);
    CHECK(run("{\"do\":\"hello\"}") && strstr(seen[0].text, "hello") != NULL);
    finish();
}

TEST(B25_what_does_not_stop_within_its_grace_is_killed_with_the_last_call_beside_it)
{
    char first[8192];

    begin("");
    CHECK(run("{\"do\":\"pid\"}"));
    (void)snprintf(first, sizeof(first), "%s", seen[0].text);
    start(1, "{\"do\":\"never\"}");
    start(2, "{\"do\":\"never\"}");
    turn_for(base, 50);
    runner->stop(runner, &jobs[1], 60000);
    CHECK(seen[1].ends == 0);
    runner->stop(runner, &jobs[1], 50);
    CHECK(ends(1) && seen[1].passing && seen[2].ends == 0);
    CHECK(run("{\"do\":\"pid\"}") && strcmp(seen[0].text, first) != 0);
    runner->stop(runner, &jobs[2], 50);
    CHECK(ends(2) && seen[2].passing);
    CHECK(run("{\"do\":\"hello\"}"));
    finish();
}

TEST(a_job_that_is_stopped_before_it_was_sent_is_not_sent)
{
    begin(",\"isolate\":true");
    start(0, "{\"do\":\"die\"}");
    runner->stop(runner, &jobs[0], 5000);
    CHECK(ends(0) && seen[0].passing && strstr(seen[0].text, "is not there") != NULL);
    finish();
}

TEST(with_isolate_each_call_has_a_child_of_its_own)
{
    begin(",\"isolate\":true");
    start(0, "{\"do\":\"pid\"}");
    start(1, "{\"do\":\"pid\"}");
    start(2, "{\"do\":\"die\"}");
    CHECK(ends(0) && ends(1) && ends(2));
    CHECK(!seen[0].passing && !seen[1].passing && strcmp(seen[0].text, seen[1].text) != 0);
    CHECK(seen[2].passing);
    finish();
}

TEST(lists_that_change_all_the_time_are_not_read_all_the_time)
{
    uint64_t began = clock_mono_ms();
    unsigned long n;

    begin(",\"env\":{\"CHATTY\":\"1\"}");
    do {
        turn_for(base, 1500);
        CHECK(run("{\"do\":\"lists\"}"));
        REQUIRE(strstr(seen[0].text, "\"text\":\"") != NULL);
        n = strtoul(strstr(seen[0].text, "\"text\":\"") + 8, NULL, 10);
    } while (n < 2 && clock_mono_ms() - began < 10000);
    /* At its start, and once a second. */
    CHECK(n >= 2 && n <= 1 + (clock_mono_ms() - began) / 1000);
    finish();
}

TEST(of_resources_that_change_only_those_that_are_watched_are_told_of)
{
    const struct registry_wanted wanted[] = {{SPAN("s"), SPAN("x://a")}};

    begin("");
    updated = 0;
    CHECK(run("{\"do\":\"update\"}") && updated == 0);
    servers_watch(servers, wanted, 1);
    CHECK(run("{\"do\":\"update\"}") && updated == 1);
    servers_watch(servers, wanted, 0);
    CHECK(run("{\"do\":\"update\"}") && updated == 1);
    finish();
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static bool is_set(void *arg)
{
    return *(const bool *)arg;
}

TEST(servers_that_are_closed_take_no_more_calls_and_end_with_those_they_have)
{
    bool is_closed = false;

    begin("");
    start(0, "{\"do\":\"never\"}");
    turn_for(base, 50);
    servers_close(servers, on_closed, &is_closed);
    turn_for(base, 100);
    CHECK(!is_closed && seen[0].ends == 0);
    start(1, "{\"do\":\"hello\"}");
    CHECK(seen[1].ends == 1 && strstr(seen[1].text, "is not served any more") != NULL);
    runner->stop(runner, &jobs[0], 0);
    CHECK(turn_until(base, 20000, is_set, &is_closed) && seen[0].ends == 1);
    CHECK(children_count(set) == 0);
    finish();
}

static bool is_said(void *arg)
{
    (void)arg;
    return said > 0;
}

TEST(who_waits_for_a_server_that_is_closed_does_not_wait_for_the_calls_of_others)
{
    bool is_closed = false;

    begin("");
    start(0, "{\"do\":\"never\"}");
    said = 0;
    start(1, "{\"do\":\"ask and tell\"}");
    /* Whose question that is is not clear: no more calls are begun. */
    CHECK(turn_until(base, 20000, is_said, NULL));
    start(2, "{\"do\":\"hello\"}");
    turn_for(base, 50);
    CHECK(seen[2].ends == 0);
    servers_close(servers, on_closed, &is_closed);
    CHECK(ends(2) && strstr(seen[2].text, "is not served any more") != NULL);
    CHECK(seen[0].ends == 0 && seen[1].ends == 0 && !is_closed);
    runner->stop(runner, &jobs[0], 0);
    runner->stop(runner, &jobs[1], 0);
    CHECK(turn_until(base, 20000, is_set, &is_closed) && ends(0) && ends(1));
    finish();
}
