#include "common/dial.h"

#include "common/clock.h"
#include "tests/lib/fake.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* "pair.test" has the two addresses below, in the order given; other names are not answered until
 * the gate is opened. */
static const char *pair[2];
static int gate;
static atomic_uint waiting;

static bool nobody_waits(void *arg)
{
    (void)arg;
    return atomic_load(&waiting) == 0;
}

static void open_gate(void)
{
    uint64_t one = 1;

    (void)!write(gate, &one, sizeof(one));
    CHECK(wait_for(10000, nobody_waits, NULL));
    (void)close(gate);
}

static void close_gate(void)
{
    gate = eventfd(0, EFD_CLOEXEC);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai)
{
    struct addrinfo *a = NULL;

    (void)req;
    if (strcmp(name, "pair.test") != 0) {
        struct pollfd p = {.fd = gate, .events = POLLIN};

        (void)atomic_fetch_add(&waiting, 1);
        (void)poll(&p, 1, 10000);
        (void)atomic_fetch_sub(&waiting, 1);
        return EAI_AGAIN;
    }
    for (unsigned i = 2; i > 0; i--) {
        struct addrinfo *one = calloc(1, sizeof(*one) + sizeof(struct sockaddr_in));
        struct sockaddr_in *sa = (struct sockaddr_in *)(void *)(one + 1);

        sa->sin_family = AF_INET;
        sa->sin_port = htons((uint16_t)strtoul(service, NULL, 10));
        (void)inet_pton(AF_INET, pair[i - 1], &sa->sin_addr);
        one->ai_addr = (struct sockaddr *)(void *)sa;
        one->ai_addrlen = sizeof(*sa);
        one->ai_next = a;
        a = one;
    }
    *pai = a;
    return 0;
}

void freeaddrinfo(struct addrinfo *ai)
{
    while (ai != NULL) {
        struct addrinfo *next = ai->ai_next;
        free(ai);
        ai = next;
    }
}

struct outcome {
    unsigned calls;
    struct bufferevent *bev;
    char why[256];
    char heard[256];
};

static void on_dialled(void *arg, struct bufferevent *bev, const char *why)
{
    struct outcome *o = arg;

    o->calls++;
    o->bev = bev;
    if (bev == NULL)
        (void)snprintf(o->why, sizeof(o->why), "%s", why);
}

static bool is_told(void *arg)
{
    return ((struct outcome *)arg)->calls > 0;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct outcome *o = arg;
    size_t n = strlen(o->heard);

    n += bufferevent_read(bev, o->heard + n, sizeof(o->heard) - 1 - n);
    o->heard[n] = '\0';
}

static bool has_pong(void *arg)
{
    return strstr(((struct outcome *)arg)->heard, "+PONG\r\n") != NULL;
}

/* Dials once and says PING. */
static struct outcome attempt(struct event_base *base, const struct url *url, uint64_t timeout_ms)
{
    struct outcome o = {0};
    struct dial *d = dial_new(base, url, timeout_ms, on_dialled, &o);

    dial_start(d);
    CHECK(turn_until(base, 10000, is_told, &o));
    CHECK(o.calls == 1);
    if (o.bev != NULL) {
        bufferevent_setcb(o.bev, on_read, NULL, NULL, &o);
        (void)bufferevent_enable(o.bev, EV_READ | EV_WRITE);
        (void)bufferevent_write(o.bev, "*1\r\n$4\r\nPING\r\n", 14);
        CHECK(turn_until(base, 10000, has_pong, &o));
        bufferevent_free(o.bev);
    }
    dial_free(d);
    return o;
}

static char pair_test[] = "pair.test";
static char mute_test[] = "mute.test";
static char loopback[] = "127.0.0.1";

/* A socket whose queue is full: who connects hears nothing at all. */
struct hole {
    int listener;
    int clients[8];
};

static void hole_open(struct hole *h, const char *address, uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};

    (void)inet_pton(AF_INET, address, &sa.sin_addr);
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(h->listener, (struct sockaddr *)&sa, sizeof(sa)) != 0 || listen(h->listener, 0) != 0)
        exit(2);
    for (size_t i = 0; i < 8; i++) {
        h->clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(h->clients[i], (struct sockaddr *)&sa, sizeof(sa));
    }
}

static void hole_close(struct hole *h)
{
    for (size_t i = 0; i < 8; i++)
        (void)close(h->clients[i]);
    (void)close(h->listener);
}

TEST(H7_a_refused_connection_says_where_and_why)
{
    struct event_base *base = event_base_new();
    struct url url = {.host = loopback, .port = free_port()};
    struct url none = {.path = (char[]){"/tmp/errand-no-such-socket"}};
    struct url long_path = {.path = (char[200]){0}};
    struct outcome o = attempt(base, &url, 8000);

    CHECK(o.bev == NULL);
    CHECK(strstr(o.why, "127.0.0.1 port ") == o.why && strstr(o.why, "refused") != NULL);
    o = attempt(base, &none, 8000);
    CHECK(o.bev == NULL && strstr(o.why, "No such file") != NULL);
    memset(long_path.path, 'x', 150);
    o = attempt(base, &long_path, 8000);
    CHECK(o.bev == NULL && strstr(o.why, "too long") != NULL);
    event_base_free(base);
}

TEST(H16_a_dead_first_address_does_not_hide_the_second)
{
    struct event_base *base = event_base_new();
    struct fake fake;

    fake_start_at(&fake, base, "127.0.0.3", 0);
    struct url url = {.host = pair_test, .port = fake.port};
    pair[0] = "127.0.0.2"; /* refuses */
    pair[1] = "127.0.0.3";
    CHECK(attempt(base, &url, 8000).bev != NULL);
    CHECK(fake.accepted == 1);
    fake_stop(&fake);
    event_base_free(base);
}

static bool costs_one_timeout(void)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct hole hole;
    uint64_t begun;
    uint64_t took;

    fake_start_at(&fake, base, "127.0.0.3", 0);
    hole_open(&hole, "127.0.0.2", fake.port);
    struct url url = {.host = pair_test, .port = fake.port};
    pair[0] = "127.0.0.2";
    pair[1] = "127.0.0.3";
    begun = clock_mono_ms();
    CHECK(attempt(base, &url, 1500).bev != NULL);
    took = clock_mono_ms() - begun;
    hole_close(&hole);
    fake_stop(&fake);
    event_base_free(base);
    return took >= 1490;
}

TEST(H16_an_address_that_swallows_everything_costs_one_timeout)
{
    CHECK(in_time(costs_one_timeout));
}

static void speak_plainly(struct fake_peer *p)
{
    fake_say(p, "-ERR this is no TLS\r\n");
}

static bool second_has_the_whole_time(void)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct hole hole;
    struct outcome o;
    uint64_t begun = clock_mono_ms();
    uint64_t took;

    fake_start_at(&fake, base, "127.0.0.2", 0);
    fake.on_accept = speak_plainly;
    hole_open(&hole, "127.0.0.3", fake.port);
    struct url url = {.tls = true, .host = pair_test, .port = fake.port};
    pair[0] = "127.0.0.2";
    pair[1] = "127.0.0.3";
    o = attempt(base, &url, 1500);
    took = clock_mono_ms() - begun;
    CHECK(o.bev == NULL);
    CHECK(strstr(o.why, "wrong version") != NULL && strstr(o.why, "timed out") != NULL);
    hole_close(&hole);
    fake_stop(&fake);
    event_base_free(base);
    return took >= 1495;
}

TEST(an_address_after_a_failed_handshake_has_the_whole_time)
{
    CHECK(in_time(second_has_the_whole_time));
}

TEST(the_next_dial_begins_one_address_further)
{
    struct event_base *base = event_base_new();
    struct outcome o = {0};
    struct fake first;
    struct fake second;

    fake_start_at(&first, base, "127.0.0.2", 0);
    fake_start_at(&second, base, "127.0.0.3", first.port);
    struct url url = {.host = pair_test, .port = first.port};
    struct dial *d = dial_new(base, &url, 8000, on_dialled, &o);
    pair[0] = "127.0.0.2";
    pair[1] = "127.0.0.3";
    for (unsigned i = 0; i < 3; i++) {
        o.calls = 0;
        dial_start(d);
        REQUIRE(turn_until(base, 10000, is_told, &o));
        REQUIRE(o.bev != NULL);
        turn_for(base, 20);
        bufferevent_free(o.bev);
    }
    CHECK(first.accepted == 2 && second.accepted == 1);
    dial_free(d);
    fake_stop(&first);
    fake_stop(&second);
    event_base_free(base);
}

TEST(a_name_that_is_never_answered_fails_in_time)
{
    struct event_base *base = event_base_new();
    struct url url = {.host = mute_test, .port = 1};
    struct outcome o;

    close_gate();
    o = attempt(base, &url, 100);
    CHECK(o.bev == NULL && strstr(o.why, "no answer from the name service") != NULL);
    open_gate();
    event_base_free(base);
}

TEST(a_stopped_dial_tells_nothing)
{
    struct event_base *base = event_base_new();
    struct outcome o = {0};
    struct hole hole;
    uint16_t port = free_port();

    close_gate();
    hole_open(&hole, "127.0.0.1", port);
    struct url url = {.host = loopback, .port = port};
    struct url name = {.host = mute_test, .port = port};
    const struct url *urls[] = {&url, &name};
    for (size_t i = 0; i < 2; i++) {
        struct dial *d = dial_new(base, urls[i], 50, on_dialled, &o);
        dial_start(d);
        dial_stop(d);
        turn_for(base, 100);
        dial_start(d);
        dial_free(d);
    }
    CHECK(o.calls == 0);
    open_gate();
    hole_close(&hole);
    event_base_free(base);
}
