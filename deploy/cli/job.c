#include "deploy/cli/job.h"

#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/command.h"
#include "deploy/cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 << 20, PEEK_ROOM = 65536, DECIMAL = 10, FD_MAX = 1 << 20 };

int job_open(void)
{
    const char *text = getenv("ERRAND_FD");
    char *end = NULL;
    long fd = text != NULL ? strtol(text, &end, DECIMAL) : -1;
    int kind = 0;
    socklen_t n = sizeof(kind);

    if (text == NULL || *text == '\0') {
        (void)complain(EXIT_FAILED, "there is no job here: ERRAND_FD is not set; this is for "
                                    "commands that a worker runs");
        return -1;
    }
    if (*end != '\0' || fd < 0 || fd > FD_MAX ||
        getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &kind, &n) != 0) {
        (void)complain(EXIT_FAILED, "descriptor \"%.16s\" of ERRAND_FD is not the job's line",
                       text);
        return -1;
    }
    return (int)fd;
}

/* Two turns that processes of one job take: a line is written in one piece, and one at a time waits
 * for its answer. What is only said need not wait for what is asked. */
enum { WRITING, READING };

/* A lock ends with its process at the latest. Where the system has none for sockets, a job must not
 * ask two things at a time. */
static void lock(int fd, int turn, short type)
{
    struct flock one = {.l_type = type, .l_whence = SEEK_SET, .l_start = turn, .l_len = 1};

    while (fcntl(fd, F_SETLKW, &one) == -1 && errno == EINTR)
        ;
}

static bool wait_for(int fd, short what)
{
    struct pollfd p = {.fd = fd, .events = what};

    return errno == EINTR || (errno == EAGAIN && (poll(&p, 1, -1) > 0 || errno == EINTR));
}

static int write_all(int fd, struct span line)
{
    while (line.n > 0) {
        ssize_t n = send(fd, line.p, line.n, MSG_NOSIGNAL);

        if (n == -1 && !wait_for(fd, POLLOUT))
            return complain(EXIT_FAILED, "the worker does not listen: %s", strerror(errno));
        if (n > 0)
            line = (struct span){line.p + n, line.n - (size_t)n};
    }
    return EXIT_OK;
}

/* One line, without its end; nothing behind it is taken. */
static int read_line(int fd, struct buf *line)
{
    static char room[PEEK_ROOM];
    const char *end = NULL;

    buf_reset(line);
    while (end == NULL) {
        ssize_t n = recv(fd, room, sizeof(room), MSG_PEEK);

        if (n == -1 && wait_for(fd, POLLIN))
            continue;
        if (n <= 0)
            return complain(EXIT_FAILED, "the worker has closed the job's line");
        end = memchr(room, '\n', (size_t)n);
        n = recv(fd, room, end != NULL ? (size_t)(end - room) + 1 : (size_t)n, 0);
        buf_add(line, room, n > 0 ? (size_t)n - (end != NULL) : 0);
    }
    return buf_ok(line) ? EXIT_OK : complain(EXIT_FAILED, "the answer is too large");
}

/* id: raw, or NULL. */
static void make(struct buf *line, const char *id, const char *method, struct span params)
{
    buf_init(line, LINE_MAX_BYTES);
    buf_adds(line, "{\"jsonrpc\":\"2.0\",");
    if (id != NULL)
        buf_addf(line, "\"id\":\"%s\",", id);
    buf_addf(line, "\"method\":\"%s\",\"params\":", method);
    buf_add_span(line, params);
    buf_adds(line, "}\n");
}

static int write_line(int fd, struct span line)
{
    int status;

    lock(fd, WRITING, F_WRLCK);
    status = write_all(fd, line);
    lock(fd, WRITING, F_UNLCK);
    return status;
}

int job_tell(const char *method, struct span params)
{
    int fd = job_open();
    struct buf line;
    int status;

    if (fd == -1)
        return EXIT_FAILED;
    make(&line, NULL, method, params);
    status = write_line(fd, buf_span(&line));
    buf_fini(&line);
    return status;
}

/* Is this the response to id? What another process left unread is not. */
static bool is_mine(struct job_answer *a, const char *id)
{
    if (json_check_limits(buf_span(&a->text), 0, 0, NULL, NULL) != ERR_OK ||
        !json_is(json_get(buf_span(&a->text), "id"), id))
        return false;
    a->result = json_get(buf_span(&a->text), "result");
    a->error = json_get(buf_span(&a->text), "error");
    return true;
}

int job_ask(const char *method, struct span params, struct job_answer *answer)
{
    int fd = job_open();
    struct buf line;
    struct buf id;
    int status;

    *answer = (struct job_answer){.result = {NULL, 0}};
    buf_init(&answer->text, LINE_MAX_BYTES);
    if (fd == -1)
        return EXIT_FAILED;
    buf_init(&id, 64); /* no name that the question is to be known by, see docs/tools.md */
    buf_addf(&id, "errand:%ld:%llu", (long)getpid(), (unsigned long long)clock_mono_us());
    make(&line, id.p, method, params);
    lock(fd, READING, F_WRLCK);
    status = write_line(fd, buf_span(&line));
    do
        status = status == EXIT_OK ? read_line(fd, &answer->text) : status;
    while (status == EXIT_OK && !is_mine(answer, id.p));
    lock(fd, READING, F_UNLCK);
    buf_fini(&line);
    buf_fini(&id);
    return status;
}

int job_failed(const struct job_answer *answer)
{
    struct buf text;
    int status;

    buf_init(&text, LINE_MAX_BYTES);
    say_string(&text, json_get(answer->error, "message"), false);
    status = complain(EXIT_FAILED, "%s", text.n > 0 ? text.p : "the answer cannot be read");
    buf_fini(&text);
    return status;
}
