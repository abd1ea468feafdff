#include "common/probe.h"

#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int listen_somewhere(uint16_t *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd == -1 || bind(fd, (struct sockaddr *)&a, n) != 0 || listen(fd, 4) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        abort();
    *port = ntohs(a.sin_port);
    return fd;
}

/* A server in a process of its own: takes one request, says text, and closes. */
static pid_t serve_one(int listener, const char *text)
{
    pid_t pid = fork();
    char request[1024];
    int fd;

    if (pid != 0)
        return pid;
    fd = accept(listener, NULL, NULL);
    if (recv(fd, request, sizeof(request), 0) <= 0 ||
        send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
        _exit(1);
    (void)close(fd);
    _exit(memcmp(request, "GET /readyz HTTP/1.0\r\n", 22) == 0 ? 0 : 1);
}

static bool probe_text(const char *host, const char *text, struct buf *why)
{
    uint16_t port;
    int listener = listen_somewhere(&port);
    pid_t pid = serve_one(listener, text);
    int status = -1;
    bool ok = probe_http(host, port, "/readyz", why);

    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    (void)close(listener);
    return ok;
}

TEST(a_program_that_answers_200_is_well)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "0.0.0.0"};
    struct buf why;

    buf_init(&why, 1000);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        CHECK(probe_text(hosts[i], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", &why));
    CHECK(why.n == 0);
    buf_fini(&why);
}

TEST(what_is_wrong_is_said_in_the_words_of_the_answer)
{
    static const struct {
        const char *answer;
        const char *why;
    } cases[] = {
        {"HTTP/1.1 503 Service Unavailable\r\n\r\n{\"reason\":\"draining\"}",
         "/readyz is answered HTTP/1.1 503 Service Unavailable: {\"reason\":\"draining\"}"},
        {"HTTP/1.1 2000 No\r\n\r\n", "/readyz is answered HTTP/1.1 2000 No: "},
        {"SSH-2.0-x\r\n", "/readyz is answered SSH-2.0-x"},
        {"x", "/readyz is answered x"},
        {"", "/readyz is not answered"},
    };
    struct buf why;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_init(&why, 1000);
        CHECK(!probe_text("127.0.0.1", cases[i].answer, &why));
        CHECK(strcmp(why.p, cases[i].why) == 0);
        buf_fini(&why);
    }
}

TEST(nobody_there_is_said)
{
    struct buf why;
    uint16_t port;
    int listener = listen_somewhere(&port);

    (void)close(listener);
    buf_init(&why, 1000);
    CHECK(!probe_http("127.0.0.1", port, "/readyz", &why));
    CHECK(strstr(why.p, "nothing answers at 127.0.0.1 port ") != NULL);
    CHECK(strstr(why.p, ": Connection refused") != NULL);
    buf_fini(&why);
}

TEST(a_server_that_says_nothing_is_not_waited_for_long)
{
    struct buf why;
    uint16_t port;
    int listener = listen_somewhere(&port);

    buf_init(&why, 1000);
    CHECK(!probe_http("127.0.0.1", port, "/readyz", &why));
    CHECK(strcmp(why.p, "/readyz is not answered") == 0);
    (void)close(listener);
    buf_fini(&why);
}
