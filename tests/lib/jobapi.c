#include "tests/lib/jobapi.h"

#include "common/mem.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jobapi jobapi;
struct seen seen;
unsigned char jobapi_secret[32] = "an installation's secret";
static struct tool tool;

/* --- the API --- */

static void answer(const struct asked *a, const char *const *list, size_t room, unsigned *count)
{
    size_t i = *count;
    const char *how;
    const char *headers;
    const char *body;
    char status[64];
    char more[512];

    (*count)++;
    while (i > 0 && (i >= room || list[i] == NULL))
        i--;
    how = list[i];
    if (how == NULL)
        return;
    headers = strchr(how, '|') + 1;
    body = strchr(headers, '|') + 1;
    (void)snprintf(status, sizeof(status), "%.*s", (int)(headers - how - 1), how);
    (void)snprintf(more, sizeof(more), "%.*s", (int)(body - headers - 1), headers);
    if (strcmp(status, "CUT") == 0)
        upstream_cut(a);
    else
        upstream_answer(a, status, more, body);
}

#define ANSWER(a, what) \
    answer(a, jobapi.what, sizeof(jobapi.what) / sizeof(jobapi.what[0]), &jobapi.what##s)

void jobapi_serve(void *arg, const struct asked *a)
{
    bool is_submit = strcmp(a->path, "/jobs") == 0;

    (void)arg;
    (void)snprintf(is_submit ? jobapi.last : jobapi.others, sizeof(jobapi.last), "%s",
                   jobapi.api.newest.p);
    if (is_submit)
        ANSWER(a, submit);
    else if (strcmp(a->method, "DELETE") == 0)
        ANSWER(a, cancel);
    else if (strstr(a->path, "/output") != NULL)
        ANSWER(a, result);
    else
        ANSWER(a, poll);
}

/* --- the sink --- */

static void on_ended(struct run_job *j, const struct run_end *end)
{
    CHECK(j == &jobapi.job);
    seen.ends++;
    seen.passing = end->passing;
    seen.is_error = end->is_error;
    (void)snprintf(seen.result, sizeof(seen.result), "%s", end->passing ? "" : end->result);
    (void)snprintf(seen.why, sizeof(seen.why), "%s", end->passing ? end->why : "");
    free(end->result);
}

static void on_said(struct run_job *j, struct span message, struct span progress)
{
    (void)j;
    seen.said++;
    (void)snprintf(seen.message, sizeof(seen.message), "%.*s", (int)message.n, message.p);
    (void)snprintf(seen.progress, sizeof(seen.progress), "%.*s", (int)progress.n, progress.p);
}

static void on_keep(struct run_job *j, struct span handle)
{
    seen.keeps++;
    CHECK(jobapi.polls == 0 && seen.keeps == 1);
    (void)snprintf(seen.handle, sizeof(seen.handle), "%s", handle.p);
    if (seen.auto_keep)
        jobapi.runner->kept(jobapi.runner, j);
}

static void on_listen(struct run_job *j)
{
    (void)j;
    seen.listens++;
}

static const struct run_sink sink = {
    .ended = on_ended, .said = on_said, .keep = on_keep, .listen = on_listen};

/* --- a job --- */

static const unsigned char *get_secret(void *arg)
{
    (void)arg;
    return jobapi_secret;
}

static void make_tool(const char *more)
{
    const struct tool_source src = {"t.json", "/tmp", 1, TOOL_COMMAND};
    const char *host = upstream_url(&jobapi.api, "");
    struct buf text;
    struct buf why;

    buf_init(&text, 16384);
    buf_init(&why, 4096);
    buf_addf(&text,
             "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"run\":{\"http\":{"
             "\"submit\":{\"url\":\"%s/jobs\",\"headers\":{\"X-Key\":\"${env:T_KEY}\"},\"body\":{"
             "\"params\":\"{arguments}\",\"to\":\"{callbackUrl}\",\"sign\":\"{callbackSecret}\"}},"
             "\"job\":\"/id\",",
             host);
    buf_addf(&text,
             "\"poll\":{\"url\":\"%s/jobs/{job}\",\"every\":\"20ms\",\"failures\":3,"
             "\"state\":\"/state\",\"working\":[\"RUNNING\"],\"completed\":[\"DONE\"],"
             "\"failed\":[\"FAILED\"],\"cancelled\":[\"KILLED\"],\"progress\":\"/percent\","
             "\"total\":100,\"message\":\"/detail\"},",
             host);
    buf_addf(&text,
             "\"cancel\":{\"url\":\"%s/jobs/{job}\"},\"headers\":{\"X-Tool\":\"t\"},"
             "\"retries\":2,\"timeout\":\"2s\"%s%s%s}}}",
             host, more[0] == '/' ? ",\"result\":{\"url\":\"" : "", more[0] == '/' ? host : "",
             more);
    if (!tool_read(&tool, &src, buf_span(&text), &why)) {
        printf("%s\n", buf_span(&why).p);
        exit(2);
    }
    buf_fini(&text);
    buf_fini(&why);
}

void jobapi_open(const char *more)
{
    const struct http_conf conf = {"https://errand.example", get_secret, NULL};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)setenv("T_KEY", "k-4711", 1);
    memset(&jobapi, 0, sizeof(jobapi));
    memset(&seen, 0, sizeof(seen));
    seen.auto_keep = true;
    jobapi.submit[0] = "201 Created||{\"id\":\"j/1\"}";
    jobapi.poll[0] = "200 OK||{\"state\":\"DONE\",\"n\":9007199254740993}";
    jobapi.cancel[0] = "204 Gone||";
    jobapi.base = event_base_new();
    upstream_start(&jobapi.api, jobapi.base, jobapi_serve, NULL);
    make_tool(more);
    jobapi.runner = http_runner_new(jobapi.base, &sink, &conf);
}

void jobapi_close(void)
{
    jobapi.runner->free(jobapi.runner);
    turn_for(jobapi.base, 20); /* the API sees its connections end */
    upstream_stop(&jobapi.api);
    event_base_free(jobapi.base);
    tool_fini(&tool);
}

void jobapi_start(const char *handle)
{
    jobapi.job =
        (struct run_job){.tool = &tool,
                         .id = "01abcdefghijklmnopqrstuv",
                         .attempt = 1,
                         .arguments = SPAN("{\"a\": 1.50}"),
                         .principal = "bob",
                         .trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                         .handle = span_of(handle)};
    jobapi.runner->start(jobapi.runner, &jobapi.job);
}

static bool is_at_least(void *arg)
{
    const unsigned *const *pair = arg;

    return *pair[0] >= *pair[1];
}

bool jobapi_comes_to(const unsigned *count, unsigned n)
{
    const unsigned *pair[] = {count, &n};

    return turn_until(jobapi.base, 30000, is_at_least, pair);
}

bool jobapi_ends(void)
{
    return jobapi_comes_to(&seen.ends, 1) && seen.ends == 1;
}

bool jobapi_has(const char *part)
{
    bool has = strstr(seen.result, part) != NULL || strstr(seen.why, part) != NULL;

    if (!has)
        printf("%s%s\n", seen.result, seen.why);
    return has;
}

void jobapi_run(void)
{
    jobapi_start("");
    CHECK(jobapi_ends());
}
