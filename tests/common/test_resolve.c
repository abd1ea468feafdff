#include "common/resolve.h"

#include "common/clock.h"
#include "common/mem.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* The system's lookup, as the linker lets the test have it: it waits for `gate` when there is one,
 * and knows "two.test" alone. */
static int gate = -1;
static atomic_uint lookups;
static atomic_uint made;
static atomic_uint freed;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai)
{
    struct addrinfo *a = NULL;

    (void)req;
    if (gate != -1) {
        struct pollfd p = {.fd = gate, .events = POLLIN};
        (void)poll(&p, 1, 30000);
    }
    (void)atomic_fetch_add(&lookups, 1);
    if (strcmp(name, "two.test") != 0)
        return EAI_NONAME;
    for (unsigned i = 2; i > 0; i--) {
        struct addrinfo *one = calloc(1, sizeof(*one) + sizeof(struct sockaddr_in));
        struct sockaddr_in *sa = (struct sockaddr_in *)(void *)(one + 1);

        sa->sin_family = AF_INET;
        sa->sin_port = htons((uint16_t)strtoul(service, NULL, 10));
        sa->sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
        one->ai_addr = (struct sockaddr *)(void *)sa;
        one->ai_addrlen = sizeof(*sa);
        one->ai_next = a;
        a = one;
    }
    *pai = a;
    (void)atomic_fetch_add(&made, 1);
    return 0;
}

void freeaddrinfo(struct addrinfo *ai)
{
    while (ai != NULL) {
        struct addrinfo *next = ai->ai_next;
        free(ai);
        ai = next;
    }
    (void)atomic_fetch_add(&freed, 1);
}

struct answer {
    unsigned calls;
    size_t n;
    struct resolve_list list;
    char why[128];
};

static void on_answer(void *arg, const struct resolve_list *list, const char *why)
{
    struct answer *a = arg;

    a->calls++;
    if (list != NULL)
        a->list = *list;
    a->n = list != NULL ? list->n : 0;
    (void)snprintf(a->why, sizeof(a->why), "%s", why);
}

static bool is_answered(void *arg)
{
    return ((struct answer *)arg)->calls > 0;
}

static uint32_t v4(const struct resolve_address *a)
{
    struct sockaddr_in sa;

    memcpy(&sa, &a->sa, sizeof(sa));
    return ntohl(sa.sin_addr.s_addr);
}

TEST(numbers_and_localhost_need_no_lookup)
{
    struct resolve_list list;
    unsigned before = atomic_load(&lookups);

    CHECK(resolve_now("127.0.0.1", 6379, &list) && list.n == 1);
    CHECK(v4(&list.at[0]) == INADDR_LOOPBACK);
    CHECK(resolve_now("::1", 6379, &list) && list.n == 1);
    CHECK(list.at[0].sa.ss_family == AF_INET6);
    CHECK(resolve_now("localhost", 6379, &list) && list.n == 2);
    CHECK(!resolve_now("redis.example", 6379, &list) && list.n == 0);
    CHECK(!resolve_now("", 6379, &list));
    CHECK(atomic_load(&lookups) == before);
}

TEST(every_address_of_a_name_is_told_in_the_order_of_the_system)
{
    struct event_base *base = event_base_new();
    struct answer a = {0};

    (void)resolve_start(base, "two.test", 7, on_answer, &a);
    CHECK(a.calls == 0);
    REQUIRE(turn_until(base, 10000, is_answered, &a));
    REQUIRE(a.n == 2);
    CHECK(v4(&a.list.at[0]) == INADDR_LOOPBACK + 1);
    CHECK(v4(&a.list.at[1]) == INADDR_LOOPBACK + 2);
    event_base_free(base);
}

TEST(an_unknown_name_says_so)
{
    struct event_base *base = event_base_new();
    struct answer a = {0};

    (void)resolve_start(base, "none.test", 7, on_answer, &a);
    REQUIRE(turn_until(base, 10000, is_answered, &a));
    CHECK(a.n == 0);
    CHECK(strncmp(a.why, "none.test: ", 11) == 0);
    event_base_free(base);
}

TEST(without_a_descriptor_left_a_lookup_fails_and_nothing_else)
{
    struct event_base *base = event_base_new();
    struct answer a = {0};
    struct rlimit before;
    struct rlimit none;

    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    (void)resolve_start(base, "two.test", 7, on_answer, &a);
    CHECK(a.calls == 0);
    CHECK(turn_until(base, 10000, is_answered, &a));
    CHECK(a.calls == 1 && a.n == 0 && strstr(a.why, "Too many open files") != NULL);
    a.calls = 0;
    resolve_cancel(resolve_start(base, "two.test", 7, on_answer, &a));
    turn_for(base, 20);
    CHECK(a.calls == 0);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    event_base_free(base);
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
    unsigned *ticks = arg;

    (void)fd;
    (void)what;
    ++*ticks;
}

static bool has_ticked(void *arg)
{
    const unsigned *ticks = arg;

    return *ticks >= 50;
}

TEST(H15_a_name_server_that_does_not_answer_does_not_hold_up_the_loop)
{
    struct event_base *base = event_base_new();
    struct answer a = {0};
    unsigned ticks = 0;
    struct event *every = event_new(base, -1, EV_PERSIST, tick, &ticks);
    struct timeval t = clock_timeval(5);

    gate = eventfd(0, EFD_CLOEXEC);
    (void)event_add(every, &t);
    (void)resolve_start(base, "two.test", 7, on_answer, &a);
    CHECK(turn_until(base, 10000, has_ticked, &ticks));
    CHECK(a.calls == 0);
    (void)!write(gate, &(uint64_t){1}, sizeof(uint64_t));
    CHECK(turn_until(base, 10000, is_answered, &a));
    CHECK(a.calls == 1 && a.n == 2);
    (void)close(gate);
    gate = -1;
    event_free(every);
    event_base_free(base);
}

static bool is_freed(void *arg)
{
    unsigned n = atomic_load(&made);

    return n > *(unsigned *)arg && atomic_load(&freed) == n;
}

TEST(a_cancelled_lookup_tells_nothing_and_leaks_nothing)
{
    struct event_base *base = event_base_new();
    struct answer a = {0};
    unsigned before = atomic_load(&made);

    gate = eventfd(0, EFD_CLOEXEC);
    resolve_cancel(resolve_start(base, "two.test", 7, on_answer, &a));
    (void)!write(gate, &(uint64_t){1}, sizeof(uint64_t));
    CHECK(wait_for(10000, is_freed, &before));
    turn_for(base, 20);
    CHECK(a.calls == 0);
    (void)close(gate);
    gate = -1;
    event_base_free(base);
}
