#include "worker/tool_http.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#define SUBMIT "\"submit\":{\"url\":\"http://h/jobs\"}"
#define JOB "\"job\":\"/id\""
#define POLL "\"poll\":{\"url\":\"http://h/{job}\",\"state\":\"/s\",\"completed\":[\"DONE\"]}"

static struct tool tool;
static char said[4096];

static bool reads_tool(const char *http, const char *more)
{
    const struct tool_source src = {"t.json", "/tmp", 1, TOOL_COMMAND};
    char text[8192];
    struct buf why;
    bool ok;

    buf_init(&why, 4096);
    (void)snprintf(text, sizeof(text),
                   "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"run\":{\"http\":%s}%s}",
                   http, more);
    ok = tool_read(&tool, &src, span_of(text), &why);
    (void)snprintf(said, sizeof(said), "%s", buf_span(&why).p != NULL ? buf_span(&why).p : "");
    buf_fini(&why);
    return ok;
}

static bool reads(const char *http)
{
    bool ok = reads_tool(http, "");

    if (!ok)
        printf("%s\n", said);
    return ok;
}

/* The sentence begins with where, names the member, and goes on with this. */
static bool refuses(const char *http, const char *member, const char *part)
{
    char begin[256];
    bool ok = reads_tool(http, "");

    if (ok)
        tool_fini(&tool);
    (void)snprintf(begin, sizeof(begin), "t.json: tool \"x\": \"%s\": ", member);
    if (!ok && strncmp(said, begin, strlen(begin)) == 0 && strstr(said, part) != NULL)
        return true;
    printf("%s: %s\n", http, said);
    return false;
}

TEST(what_the_page_shows_is_read)
{
    const struct tool_http *h;

    (void)setenv("T_TOKEN", "s3cret", 1);
    REQUIRE(
        reads("{\"submit\":{\"method\":\"POST\",\"url\":\"https://batch.example/jobs\","
              "\"headers\":{\"Authorization\":\"Bearer ${env:T_TOKEN}\"},"
              "\"body\":{\"params\":\"{arguments}\",\"callback\":\"{callbackUrl}\"}},"
              "\"job\":\"/id\","
              "\"poll\":{\"url\":\"https://batch.example/jobs/{job}\",\"every\":\"5s\","
              "\"state\":\"/state\",\"working\":[\"QUEUED\",\"RUNNING\"],\"completed\":"
              "[\"DONE\"],\"failed\":[\"FAILED\"],\"cancelled\":[\"KILLED\"],"
              "\"progress\":\"/percent\",\"message\":\"/detail\"},"
              "\"result\":{\"url\":\"https://batch.example/jobs/{job}/output\",\"as\":\"text\"},"
              "\"cancel\":{\"method\":\"DELETE\",\"url\":\"https://batch.example/jobs/{job}\"}}"));
    h = tool.http;
    CHECK(tool.run == TOOL_HTTP && tool.output == TOOL_TEXT);
    CHECK(strcmp(h->submit.method, "POST") == 0 && strcmp(h->poll.method, "GET") == 0);
    CHECK(strcmp(h->submit.headers.items[0], "Authorization: Bearer ${env:T_TOKEN}") == 0);
    CHECK(strcmp(h->submit.body, "{\"params\":\"{arguments}\",\"callback\":\"{callbackUrl}\"}") ==
          0);
    CHECK(h->takes_callback && !h->signs_callback && tool_takes_callback(&tool));
    CHECK(h->secrets.n == 1 && strcmp(h->secrets.items[0], "T_TOKEN") == 0);
    CHECK(h->every_ms == 5000 && h->timeout_ms == 30000 && !h->follow);
    CHECK(tool_http_state(h, SPAN("\"RUNNING\"")) == HTTP_WORKING);
    CHECK(tool_http_state(h, SPAN("\"\\u0044ONE\"")) == HTTP_COMPLETED);
    CHECK(tool_http_state(h, SPAN("\"FAILED\"")) == HTTP_FAILED);
    CHECK(tool_http_state(h, SPAN("\"KILLED\"")) == HTTP_CANCELLED);
    CHECK(tool_http_state(h, SPAN("\"LOST\"")) == HTTP_UNKNOWN);
    CHECK(strstr(tool.definition, "s3cret") == NULL && strstr(tool.definition, "batch") == NULL);
    tool_fini(&tool);
}

TEST(the_shortest_has_defaults)
{
    const struct tool_http *h;

    REQUIRE(reads("{" SUBMIT "," JOB "," POLL "}"));
    h = tool.http;
    CHECK(strcmp(h->submit.method, "POST") == 0 && h->submit.body == NULL);
    CHECK(tool.output == TOOL_JSON && h->result.url == NULL && h->cancel.url == NULL);
    CHECK(!h->takes_callback && h->every_ms == 5000 && h->failures == 10 && h->retries == 4);
    CHECK(tool_http_state(h, SPAN("\"anything\"")) == HTTP_WORKING);
    CHECK(tool_http_state(h, SPAN("false")) == HTTP_WORKING);
    CHECK(tool_http_state(h, SPAN("{}")) == HTTP_UNKNOWN);
    tool_fini(&tool);
    REQUIRE(reads("{" SUBMIT "," JOB "," POLL ",\"result\":{\"as\":\"result\",\"at\":\"/r\"},"
                  "\"timeout\":\"2s\",\"connectTimeout\":\"1s\",\"retries\":0,\"followRedirects\":"
                  "true,\"headers\":{\"X-A\":\"b\"}}"));
    CHECK(tool.output == TOOL_RESULT && tool.http->follow && tool.http->retries == 0);
    CHECK(tool.http->timeout_ms == 2000 && tool.http->headers.n == 1);
    tool_fini(&tool);
    REQUIRE(reads_tool("{" SUBMIT "," JOB "," POLL "}", ",\"outputSchema\":{\"type\":\"object\"}"));
    tool_fini(&tool);
}

TEST(what_is_missing_is_said)
{
    CHECK(refuses("[]", "run.http", "is no object"));
    CHECK(refuses("{" JOB "," POLL "}", "run.http", "no \"submit\""));
    CHECK(refuses("{" SUBMIT "," POLL "}", "run.http", "\"job\": \"/id\""));
    CHECK(refuses("{" SUBMIT "," JOB "}", "run.http", "no \"poll\""));
    CHECK(refuses("{\"submit\":{}," JOB "," POLL "}", "run.http.submit", "no \"url\""));
    CHECK(refuses("{" SUBMIT "," JOB ",\"poll\":{\"url\":\"http://h\",\"completed\":[1]}}",
                  "run.http.poll", "no \"state\""));
    CHECK(refuses("{" SUBMIT "," JOB ",\"poll\":{\"url\":\"http://h\",\"state\":\"/s\"}}",
                  "run.http.poll", "\"completed\""));
    CHECK(refuses("{" SUBMIT "," JOB "," POLL ",\"result\":{\"method\":\"GET\"}}",
                  "run.http.result", "no \"url\""));
}

TEST(what_is_wrong_is_named_with_its_value)
{
    (void)unsetenv("T_UNSET");
    CHECK(refuses("{\"submits\":{}}", "run.http.submits", "it is unknown; there are submit,"));
    CHECK(refuses("{\"submit\":{\"uri\":1}}", "run.http.submit.uri", "it is unknown"));
    CHECK(refuses("{\"submit\":{\"method\":\"FETCH\"}}", "run.http.submit.method",
                  "\"FETCH\" is none of"));
    CHECK(refuses("{\"submit\":{\"url\":7}}", "run.http.submit.url", "7 is no URL"));
    CHECK(refuses("{\"submit\":{\"url\":\"file:///x\"}}", "run.http.submit.url", "http://"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://{x}/\"}}", "run.http.submit.url",
                  "cannot choose the server"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h/{job}\"}}", "run.http.submit", "no {job}"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h\",\"headers\":{\"A b\":\"c\"}}}",
                  "run.http.submit.headers", "\"A b\" is no name of a header"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h\",\"headers\":{\"A\":\"b\\nc\"}}}",
                  "run.http.submit.headers", "line break"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h\",\"headers\":{\"A\":\"${env:T_UNSET}\"}}}",
                  "run.http.submit.headers", "the variable T_UNSET is not set"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h\",\"body\":{\"a\":[\"${env:T_UNSET}\"]}}}",
                  "run.http.submit.body", "the variable T_UNSET is not set"));
    CHECK(refuses("{\"submit\":{\"url\":\"http://h\",\"body\":\"{callbackSecret}\"}}",
                  "run.http.submit", "{callbackUrl}"));
    CHECK(refuses("{\"submit\":{\"method\":\"GET\",\"url\":\"http://h\",\"body\":1}}",
                  "run.http.submit", "a GET has no"));
    CHECK(refuses("{" SUBMIT ",\"job\":\"id\"}", "run.http.job", "\"id\" is no JSON pointer"));
    CHECK(refuses("{\"poll\":{\"every\":\"5\"}}", "run.http.poll.every", ""));
    CHECK(refuses("{\"poll\":{\"working\":[]}}", "run.http.poll.working", "it is empty"));
    CHECK(refuses("{\"poll\":{\"working\":[\"A\"],\"failed\":[\"A\"]}}", "run.http.poll.failed",
                  "\"A\" is in two lists"));
    CHECK(refuses("{\"poll\":{\"completed\":[{}]}}", "run.http.poll.completed", "{} is no state"));
    CHECK(refuses("{\"poll\":{\"total\":0}}", "run.http.poll.total", "0 is no total"));
    CHECK(refuses("{\"poll\":{\"url\":\"http://h/{callbackUrl}\"}}", "run.http.poll",
                  "for \"submit\" only"));
    CHECK(refuses("{\"result\":{\"as\":\"xml\"}}", "run.http.result.as", "\"xml\" is none of"));
    CHECK(refuses("{\"retries\":-1}", "run.http.retries", "-1 is no count"));
    CHECK(refuses("{\"followRedirects\":1}", "run.http.followRedirects", "1 is neither"));
    CHECK(refuses("{\"ca\":\"nowhere.pem\"}", "run.http.ca", "cannot be read"));
}

TEST(what_is_a_commands_is_refused)
{
    CHECK(!reads_tool("{" SUBMIT "," JOB "," POLL "},\"output\":\"json\"", ""));
    CHECK(strstr(said, "\"run.output\": it is a command's") != NULL);
    CHECK(!reads_tool("{" SUBMIT "," JOB "," POLL "},\"command\":[\"x\"]", ""));
    CHECK(strstr(said, "\"run.command\": it is a command's") != NULL);
    CHECK(!reads_tool("{" SUBMIT "," JOB "," POLL "}", ",\"env\":[\"A\"]"));
    CHECK(strstr(said, "\"env\": it is a command's") != NULL);
    CHECK(!reads_tool("{" SUBMIT "," JOB "," POLL "}", ",\"retryOn\":[\"exit\"]"));
    CHECK(strstr(said, "\"retryOn\": \"exit\" is a command's") != NULL);
    CHECK(!reads_tool("{" SUBMIT "," JOB "," POLL ",\"result\":{\"as\":\"text\",\"at\":\"/x\"}}",
                      ",\"outputSchema\":{\"type\":\"object\"}"));
    CHECK(strstr(said, "\"as\": \"json\"") != NULL);
}
