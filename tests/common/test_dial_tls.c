#include "common/dial.h"

#include "tests/lib/certs.h"
#include "tests/lib/fake.h"
#include "tests/lib/proc.h"
#include "tests/lib/test.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

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
    CHECK(turn_until(base, 30000, is_told, &o));
    CHECK(o.calls == 1);
    if (o.bev != NULL) {
        bufferevent_setcb(o.bev, on_read, NULL, NULL, &o);
        (void)bufferevent_enable(o.bev, EV_READ | EV_WRITE);
        (void)bufferevent_write(o.bev, "*1\r\n$4\r\nPING\r\n", 14);
        CHECK(turn_until(base, 30000, has_pong, &o));
        bufferevent_free(o.bev);
    }
    dial_free(d);
    return o;
}

static char localhost[] = "localhost";
static char loopback[] = "127.0.0.1";

static struct url tls_url(const struct tls_redis *t, char *host, char *ca)
{
    return (struct url){.tls = true, .host = host, .port = t->port, .ca_file = ca};
}

TEST(H14_tls_is_spoken_with_a_server_its_authority_vouches_for)
{
    struct event_base *base = event_base_new();
    struct tls_redis t;
    struct outcome o;

    tls_redis_start(&t, "DNS:localhost,IP:127.0.0.1");
    struct url by_name = tls_url(&t, localhost, t.certs.ca);
    struct url by_number = tls_url(&t, loopback, t.certs.ca);
    o = attempt(base, &by_name, 30000);
    CHECK(o.bev != NULL);
    o = attempt(base, &by_number, 30000);
    CHECK(o.bev != NULL);
    tls_redis_stop(&t);
    event_base_free(base);
}

TEST(H14_a_stranger_s_certificate_is_refused)
{
    struct event_base *base = event_base_new();
    struct tls_redis t;
    char missing[] = "/tmp/errand-no-such-file.pem";
    struct outcome o;

    tls_redis_start(&t, "DNS:localhost,IP:127.0.0.1");
    struct url stranger = tls_url(&t, localhost, t.certs.stranger);
    struct url system = tls_url(&t, localhost, NULL);
    struct url none = tls_url(&t, localhost, missing);
    o = attempt(base, &stranger, 30000);
    CHECK(o.bev == NULL && strstr(o.why, "TLS: ") != NULL && strstr(o.why, "certificate") != NULL);
    o = attempt(base, &system, 30000);
    CHECK(o.bev == NULL && strstr(o.why, "certificate") != NULL);
    o = attempt(base, &none, 30000);
    CHECK(o.bev == NULL && strstr(o.why, "authorities cannot be read") != NULL);
    tls_redis_stop(&t);
    event_base_free(base);
}

TEST(H14_a_certificate_of_another_host_is_refused)
{
    struct event_base *base = event_base_new();
    struct tls_redis t;
    struct outcome o;

    tls_redis_start(&t, "DNS:redis.example,IP:127.0.0.9");
    struct url by_name = tls_url(&t, localhost, t.certs.ca);
    struct url by_number = tls_url(&t, loopback, t.certs.ca);
    o = attempt(base, &by_name, 30000);
    CHECK(o.bev == NULL && strstr(o.why, "mismatch") != NULL);
    o = attempt(base, &by_number, 30000);
    CHECK(o.bev == NULL && strstr(o.why, "mismatch") != NULL);
    tls_redis_stop(&t);
    event_base_free(base);
}

static void say_nothing(struct fake_peer *p)
{
    fake_deafen(p);
}

TEST(a_server_that_accepts_and_never_shakes_hands_fails_in_time)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct outcome o;

    fake_start(&fake, base);
    fake.on_accept = say_nothing;
    fake.url.tls = true;
    o = attempt(base, &fake.url, 1500);
    CHECK(o.bev == NULL && strstr(o.why, "TLS: no answer") != NULL);
    fake_stop(&fake);
    event_base_free(base);
}

static void speak_plainly(struct fake_peer *p)
{
    fake_say(p, "-ERR this is no TLS\r\n");
}

TEST(a_server_without_tls_is_named_as_such)
{
    struct event_base *base = event_base_new();
    struct fake fake;
    struct outcome o;

    fake_start(&fake, base);
    fake.on_accept = speak_plainly;
    fake.url.tls = true;
    o = attempt(base, &fake.url, 1000);
    CHECK(o.bev == NULL && strstr(o.why, "wrong version number") != NULL);
    fake_stop(&fake);
    event_base_free(base);
}
