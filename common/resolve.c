#include "common/resolve.h"

#include "common/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Shared by the loop and the thread; the one that leaves last frees it. */
struct job {
    atomic_int users;
    int done; /* eventfd: the answer is there */
    char *host;
    char service[8];
    int error; /* of getaddrinfo */
    struct addrinfo *found;
};

struct resolve {
    struct job *job;
    int error; /* why there is no lookup; 0: there is one */
    struct event *ready;
    resolve_fn *fn;
    void *arg;
};

static void job_leave(struct job *job)
{
    if (atomic_fetch_sub(&job->users, 1) != 1)
        return;
    if (job->found != NULL)
        freeaddrinfo(job->found);
    if (job->done != -1)
        (void)close(job->done);
    free(job->host);
    free(job);
}

static void *look_up(void *arg)
{
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    static const uint64_t one = 1;
    struct job *job = arg;

    job->error = getaddrinfo(job->host, job->service, &hints, &job->found);
    if (write(job->done, &one, sizeof(one)) != (ssize_t)sizeof(one))
        abort();
    job_leave(job);
    return NULL;
}

static void add(struct resolve_list *list, const void *sa, size_t size)
{
    struct resolve_address *to = &list->at[list->n];

    if (list->n == RESOLVE_MAX || size > sizeof(to->sa))
        return;
    memcpy(&to->sa, sa, size);
    to->size = (socklen_t)size;
    list->n++;
}

static void add_number(struct resolve_list *list, const char *host, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        add(list, &v4, sizeof(v4));
    else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
        add(list, &v6, sizeof(v6));
}

bool resolve_now(const char *host, uint16_t port, struct resolve_list *list)
{
    list->n = 0;
    if (strcmp(host, "localhost") == 0) {
        add_number(list, "127.0.0.1", port);
        add_number(list, "::1", port);
    } else {
        add_number(list, host, port);
    }
    return list->n > 0;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct resolve *q = arg;
    struct job *job = q->job;
    resolve_fn *fn = q->fn;
    void *fn_arg = q->arg;
    struct resolve_list list = {0};
    uint64_t count;
    char why[128] = "";

    (void)what;
    if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
        return;
    for (const struct addrinfo *a = job->found; a != NULL; a = a->ai_next)
        add(&list, a->ai_addr, a->ai_addrlen);
    if (list.n == 0)
        (void)snprintf(why, sizeof(why), "%.60s: %s", job->host,
                       job->error != 0 ? gai_strerror(job->error) : "no address");
    resolve_cancel(q);
    fn(fn_arg, list.n > 0 ? &list : NULL, why);
}

/* A process that is out of descriptors or threads is told so like any other failure. */
static void on_failed(evutil_socket_t fd, short what, void *arg)
{
    struct resolve *q = arg;
    resolve_fn *fn = q->fn;
    void *fn_arg = q->arg;
    char why[128];

    (void)fd;
    (void)what;
    (void)snprintf(why, sizeof(why), "%.60s: it cannot be looked up: %.40s", q->job->host,
                   evutil_socket_error_to_string(q->error));
    resolve_cancel(q);
    fn(fn_arg, NULL, why);
}

/* Signals are the loop's business: the thread is born with all of them blocked. 0, or an errno. */
static int start_thread(struct job *job)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_attr_init(&attr) != 0 ||
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) != 0)
        abort();
    error = pthread_create(&thread, &attr, look_up, job);
    (void)pthread_attr_destroy(&attr);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int look_up_elsewhere(struct job *job)
{
    int error;

    job->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (job->done == -1)
        return errno;
    (void)atomic_fetch_add(&job->users, 1);
    error = start_thread(job);
    if (error != 0)
        (void)atomic_fetch_sub(&job->users, 1);
    return error;
}

struct resolve *resolve_start(struct event_base *base, const char *host, uint16_t port,
                              resolve_fn *fn, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct resolve *q = mem_zalloc(sizeof(*q));
    struct job *job = mem_zalloc(sizeof(*job));

    atomic_init(&job->users, 1);
    job->host = mem_strdup(host);
    (void)snprintf(job->service, sizeof(job->service), "%u", port);
    *q = (struct resolve){.job = job, .fn = fn, .arg = arg};
    q->error = look_up_elsewhere(job);
    if (q->error == 0)
        q->ready = event_new(base, job->done, EV_READ, on_ready, q);
    else
        q->ready = evtimer_new(base, on_failed, q);
    if (q->ready == NULL || event_add(q->ready, q->error == 0 ? NULL : &at_once) != 0)
        abort();
    return q;
}

void resolve_cancel(struct resolve *q)
{
    event_free(q->ready);
    job_leave(q->job);
    free(q);
}
