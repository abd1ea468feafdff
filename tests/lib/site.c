#include "tests/lib/site.h"

#include "tests/lib/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char broker_program[] = ERRAND_BIN "/errand-broker";
static const char worker_program[] = ERRAND_BIN "/errand-worker";

static const char tools[] =
    "{\"tools\":["
    "{\"name\":\"nap\",\"description\":\"sleeps for a while\\nand more\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"}},"
    "\"required\":[\"s\"]},\"taskSupport\":\"optional\",\"pollInterval\":\"100ms\","
    "\"run\":{\"command\":[\"sleep\",\"{s}\"]}},"
    "{\"name\":\"must\",\"description\":\"fails\",\"inputSchema\":{\"type\":\"object\"},"
    "\"taskSupport\":\"required\",\"run\":{\"command\":[\"sh\",\"-c\",\"echo no >&2; exit 3\"]}},"
    "{\"name\":\"quick\",\"description\":\"answers\",\"inputSchema\":{\"type\":\"object\"},"
    "\"taskSupport\":\"forbidden\",\"run\":{\"command\":[\"echo\",\"quick\"]}},"
    "{\"name\":\"broken\",\"description\":\"cannot start, and says so at "
    "such a length that nobody reads it in a list of tools which has many rows and one line "
    "each\",\"inputSchema\":{\"type\":\"object\"},"
    "\"taskSupport\":\"optional\",\"attempts\":2,\"backoff\":\"10ms\","
    "\"run\":{\"command\":[\"/nonexistent/program\"]}},"
    "{\"name\":\"say\",\"description\":\"runs a script\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"sh\":{\"type\":\"string\"}},"
    "\"required\":[\"sh\"]},\"taskSupport\":\"optional\",\"pollInterval\":\"100ms\","
    "\"run\":{\"command\":[\"sh\",\"-c\",\"PATH=" ERRAND_BIN ":$PATH; {sh}\"]}}"
    "]}";

static void write_tools(const struct site *s)
{
    char path[160];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/tools.json", s->dir);
    f = fopen(path, "w");
    if (f == NULL || fputs(tools, f) < 0 || fclose(f) != 0)
        exit(2);
}

static int start(const struct site *s, const char *const *argv)
{
    char log[160];

    (void)snprintf(log, sizeof(log), "%s/log", s->dir);
    return proc_start(argv, log);
}

/* Answers errand tools with all of them. */
static bool is_up(void *arg)
{
    struct site *s = arg;
    struct prog p;
    bool up;

    ERRAND(s, &p, "tools");
    up = p.status == 0 && strstr(p.out, "broken") != NULL && strstr(p.out, "quick") != NULL;
    up = up || strstr(p.err, "API key") != NULL;
    prog_fini(&p);
    return up;
}

void site_start_broker(struct site *s)
{
    char listen[32];
    const char *argv[] = {broker_program, "--redis", s->redis.url, "--listen",
                          listen,         "--auth",  s->auth,      NULL};

    (void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", s->port);
    s->broker = start(s, argv);
}

void site_start(struct site *s, const char *auth)
{
    char path[160];

    memset(s, 0, sizeof(*s));
    s->auth = auth;
    test_redis_start(&s->redis, NULL);
    (void)snprintf(s->dir, sizeof(s->dir), "/tmp/errand-site-XXXXXX");
    if (mkdtemp(s->dir) == NULL)
        exit(2);
    write_tools(s);
    s->port = free_port();
    (void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/mcp", s->port);
    site_start_broker(s);
    (void)snprintf(path, sizeof(path), "%s/tools.json", s->dir);
    const char *argv[] = {worker_program, "--redis", s->redis.url, "--tools",
                          path,           "--slots", "2",          NULL};
    s->worker = start(s, argv);
    if (!wait_for(20000, is_up, s)) {
        (void)fprintf(stderr, "the site did not start; see %s/log\n", s->dir);
        exit(2);
    }
}

static void end(int *pid, int signal)
{
    if (*pid <= 0)
        return;
    (void)kill(*pid, signal);
    if (proc_wait(*pid, 10000) == -1) {
        (void)kill(*pid, SIGKILL);
        (void)waitpid(*pid, NULL, 0);
    }
    *pid = 0;
}

void site_kill_broker(struct site *s)
{
    end(&s->broker, SIGKILL);
}

void site_stop(struct site *s)
{
    end(&s->worker, SIGKILL); /* a drain would wait for its jobs */
    end(&s->broker, SIGTERM);
    test_redis_stop(&s->redis);
    remove_tree(s->dir);
}

struct environment {
    char url[96];
    char redis[200];
    char key[128];
    const char *words[4];
};

static const char *const *environment(const struct site *s, const char *key, struct environment *e)
{
    (void)snprintf(e->url, sizeof(e->url), "ERRAND_URL=%s", s->url);
    (void)snprintf(e->redis, sizeof(e->redis), "ERRAND_REDIS=%s", s->redis.url);
    (void)snprintf(e->key, sizeof(e->key), "ERRAND_KEY=%s", key != NULL ? key : "");
    e->words[0] = e->url;
    e->words[1] = e->redis;
    e->words[2] = key != NULL ? e->key : NULL;
    e->words[3] = NULL;
    return e->words;
}

void site_errand_start(struct site *s, struct prog *p, const char *const *words, const char *key,
                       const char *input)
{
    struct environment e;

    prog_start(p, words, environment(s, key, &e), input);
}

void site_terminal_start(struct site *s, struct term *t, const char *const *words)
{
    struct environment e;

    term_start(t, words, environment(s, NULL, &e));
}

void site_errand(struct site *s, struct prog *p, const char *const *words)
{
    site_errand_start(s, p, words, NULL, NULL);
    (void)prog_end(p, 30000);
}
