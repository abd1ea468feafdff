#include "tests/lib/fake.h"

#include "common/mem.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

struct fake_peer {
    struct fake *f;
    struct bufferevent *bev;
    redisReader *reader;
    struct fake_peer *older;
};

struct fake *fake_of(struct fake_peer *p)
{
    return p->f;
}

void fake_say(struct fake_peer *p, const char *text)
{
    (void)bufferevent_write(p->bev, text, strlen(text));
}

bool fake_is(const struct redisReply *command, const char *name)
{
    return command->elements > 0 && strcasecmp(command->element[0]->str, name) == 0;
}

bool fake_greet(struct fake_peer *p, const struct redisReply *command)
{
    if (fake_is(command, "PING")) {
        fake_say(p, "+PONG\r\n");
        return true;
    }
    if (fake_is(command, "AUTH") || fake_is(command, "SELECT") || fake_is(command, "CLIENT")) {
        fake_say(p, "+OK\r\n");
        return true;
    }
    return false;
}

void fake_deafen(struct fake_peer *p)
{
    (void)bufferevent_disable(p->bev, EV_READ);
}

void fake_listen(struct fake_peer *p)
{
    (void)bufferevent_enable(p->bev, EV_READ);
}

void fake_close(struct fake_peer *p)
{
    struct fake_peer **at = &p->f->peer;

    while (*at != p)
        at = &(*at)->older;
    *at = p->older;
    bufferevent_free(p->bev);
    redisReaderFree(p->reader);
    free(p);
}

void fake_reset(struct fake_peer *p)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(bufferevent_getfd(p->bev), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    fake_close(p);
}

static void answer(struct fake_peer *p, const redisReply *command)
{
    if (!fake_is(command, "PING") && !fake_is(command, "CLIENT"))
        p->f->commands++;
    if (p->f->on_command != NULL)
        p->f->on_command(p, command);
    else if (!fake_greet(p, command))
        fake_say(p, "+OK\r\n");
}

static bool is_open(const struct fake *f, const struct fake_peer *p)
{
    const struct fake_peer *it = f->peer;

    while (it != NULL && it != p)
        it = it->older;
    return it != NULL;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct fake_peer *p = arg;
    struct fake *f = p->f;
    struct evbuffer *in = bufferevent_get_input(bev);
    size_t n = evbuffer_get_length(in);
    void *command = NULL;

    f->reads++;
    f->bytes += n;
    (void)redisReaderFeed(p->reader, (const char *)evbuffer_pullup(in, -1), n);
    (void)evbuffer_drain(in, n);
    while (is_open(f, p) && redisReaderGetReply(p->reader, &command) == REDIS_OK &&
           command != NULL) {
        answer(p, command);
        freeReplyObject(command);
        command = NULL;
    }
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0)
        fake_close(arg);
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int n,
                      void *arg)
{
    struct fake *f = arg;
    struct fake_peer *p = mem_zalloc(sizeof(*p));

    (void)l;
    (void)sa;
    (void)n;
    p->f = f;
    p->bev = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
    p->reader = redisReaderCreate();
    p->older = f->peer;
    f->peer = p;
    f->accepted++;
    bufferevent_setcb(p->bev, on_read, NULL, on_event, p);
    (void)bufferevent_enable(p->bev, EV_READ | EV_WRITE);
    if (f->on_accept != NULL)
        f->on_accept(p);
}

void fake_start_at(struct fake *f, struct event_base *base, const char *address, uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t n = sizeof(sa);

    memset(f, 0, sizeof(*f));
    f->base = base;
    (void)inet_pton(AF_INET, address, &sa.sin_addr);
    f->listener = evconnlistener_new_bind(
        base, on_accept, f, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC, 128,
        (struct sockaddr *)&sa, sizeof(sa));
    if (f->listener == NULL ||
        getsockname(evconnlistener_get_fd(f->listener), (struct sockaddr *)&sa, &n) != 0)
        exit(2);
    f->port = ntohs(sa.sin_port);
    f->url.host = mem_strdup(address);
    f->url.port = f->port;
}

void fake_start(struct fake *f, struct event_base *base)
{
    fake_start_at(f, base, "127.0.0.1", 0);
}

void fake_stop(struct fake *f)
{
    struct fake_peer *older;

    for (struct fake_peer *p = f->peer; p != NULL; p = older) {
        older = p->older;
        fake_close(p);
    }
    if (f->listener != NULL)
        evconnlistener_free(f->listener);
    f->listener = NULL;
    free(f->url.host);
    f->url.host = NULL;
}
