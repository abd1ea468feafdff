#include "tests/lib/redis.h"

#include "tests/lib/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *server_program(void)
{
    const char *named = getenv("ERRAND_REDIS_SERVER");

    if (named != NULL)
        return named;
    return access("/usr/bin/redis-server", X_OK) == 0 ? "redis-server" : "valkey-server";
}

static void exec_server(const struct test_redis *r)
{
    const char *argv[64];
    char port[8];
    int n = 0;
    int log = open("redis.log", O_WRONLY | O_CREAT | O_APPEND, 0600);

    (void)snprintf(port, sizeof(port), "%u", r->port);
    argv[n++] = server_program();
    const char *fixed[] = {"--port",       port, "--bind", "127.0.0.1", "--unixsocket", r->socket,
                           "--appendonly", "no", "--save", "",          "--dir",        r->dir};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        argv[n++] = fixed[i];
    for (const char *const *e = r->extra; e != NULL && *e != NULL && n < 62; e++)
        argv[n++] = *e;
    argv[n] = NULL;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(log, 1);
    (void)dup2(log, 2);
    (void)execvp(argv[0], (char *const *)(const void *)argv);
    _exit(127);
}

static bool try_connect(void *arg)
{
    struct test_redis *r = arg;
    redisReply *reply;
    bool ok;

    r->c = redisConnectUnix(r->socket);
    if (r->c == NULL || r->c->err != 0) {
        redisFree(r->c);
        r->c = NULL;
        return false;
    }
    reply = redisCommand(r->c, "PING");
    ok = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    if (!ok) {
        redisFree(r->c);
        r->c = NULL;
    }
    return ok;
}

static bool has_ended(struct test_redis *r)
{
    if (waitpid(r->pid, NULL, WNOHANG) == r->pid)
        r->pid = 0;
    return r->pid == 0;
}

static bool is_up_or_ended(void *arg)
{
    return try_connect(arg) || has_ended(arg);
}

/* A server that ends at once may have found its port taken by somebody else: it is tried again, on
 * another one where nobody knows the port yet. */
static void launch(struct test_redis *r, bool is_first)
{
    for (int i = 0; i < 5 && r->c == NULL; i++) {
        if (i > 0 && is_first && r->port != 0)
            r->port = free_port();
        r->pid = fork();
        if (r->pid == 0) {
            if (chdir(r->dir) != 0)
                _exit(126);
            exec_server(r);
        }
        if (!wait_for(30000, is_up_or_ended, r))
            break;
    }
    if (r->c == NULL) {
        (void)fprintf(stderr, "redis did not start; see %s/redis.log\n", r->dir);
        exit(2);
    }
}

static void start(struct test_redis *r, const char *const *extra, uint16_t port)
{
    memset(r, 0, sizeof(*r));
    (void)snprintf(r->dir, sizeof(r->dir), "/tmp/errand-test-XXXXXX");
    if (mkdtemp(r->dir) == NULL)
        exit(2);
    (void)snprintf(r->socket, sizeof(r->socket), "%s/redis.sock", r->dir);
    (void)snprintf(r->url, sizeof(r->url), "unix://%s", r->socket);
    r->extra = extra;
    r->port = port;
    launch(r, true);
}

void test_redis_start(struct test_redis *r, const char *const *extra)
{
    start(r, extra, 0);
}

void test_redis_start_tcp(struct test_redis *r, const char *const *extra)
{
    start(r, extra, free_port());
}

static void end(struct test_redis *r, int signal)
{
    if (r->c != NULL)
        redisFree(r->c);
    r->c = NULL;
    if (r->pid <= 0)
        return;
    (void)kill(r->pid, signal);
    (void)kill(r->pid, SIGCONT);
    while (waitpid(r->pid, NULL, 0) == -1 && errno == EINTR)
        ;
    r->pid = 0;
}

void test_redis_kill(struct test_redis *r)
{
    end(r, SIGKILL);
}

void test_redis_restart(struct test_redis *r)
{
    end(r, SIGKILL);
    launch(r, false);
}

void test_redis_stop(struct test_redis *r)
{
    end(r, SIGTERM);
    remove_tree(r->dir);
}

void test_redis_flush(struct test_redis *r)
{
    freeReplyObject(redisCommand(r->c, "FLUSHALL"));
    freeReplyObject(redisCommand(r->c, "FUNCTION FLUSH"));
}
