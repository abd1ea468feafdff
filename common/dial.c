#include "common/dial.h"

#include "common/clock.h"
#include "common/mem.h"
#include "common/resolve.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

struct dial {
    struct event_base *base;
    const struct url *url;
    uint64_t timeout_ms;
    dial_fn *fn;
    void *arg;
    size_t dials; /* so far: where to begin */
    struct resolve *resolving; /* at most one of these three is set */
    struct event *connecting; /* of fd */
    struct bufferevent *bev; /* shaking hands */
    int fd;
    struct event *deadline; /* of the lookup and of the handshake */
    struct resolve_list list;
    size_t left; /* addresses not tried yet */
    char why[256];
};

static void try_next(struct dial *d);

static void finish(struct dial *d, struct bufferevent *bev)
{
    d->fn(d->arg, bev, d->why);
}

static struct resolve_address *address(struct dial *d)
{
    return &d->list.at[(d->dials + d->list.n - d->left) % d->list.n];
}

/* Each address that failed adds its reason. */
static void note(struct dial *d, const char *what)
{
    const struct resolve_address *a = address(d);
    size_t n = strlen(d->why);
    const char *between = n > 0 ? "; " : "";
    char host[64] = "?";
    char port[8] = "?";

    if (d->url->path != NULL) {
        (void)snprintf(d->why, sizeof(d->why), "%.108s: %s", d->url->path, what);
        return;
    }
    (void)getnameinfo((const struct sockaddr *)&a->sa, a->size, host, sizeof(host), port,
                      sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(d->why + n, sizeof(d->why) - n, "%s%s port %s: %s", between, host, port, what);
}

/* One address has failed; the fd or the bufferevent is already gone. */
static void give_up_address(struct dial *d, const char *what)
{
    note(d, what);
    d->left--;
    try_next(d);
}

void dial_explain(struct bufferevent *bev, short what, char *out, size_t room)
{
    int error = EVUTIL_SOCKET_ERROR();
    SSL *ssl = bufferevent_openssl_get_ssl(bev);
    unsigned long code = ssl != NULL ? bufferevent_get_openssl_error(bev) : 0;
    const char *text = NULL;

    if (ssl != NULL && SSL_get_verify_result(ssl) != X509_V_OK)
        text = X509_verify_cert_error_string(SSL_get_verify_result(ssl));
    else if (code != 0)
        text = ERR_reason_error_string(code);
    else if ((what & BEV_EVENT_EOF) != 0)
        text = "the connection was closed by the other side";
    else if (error != 0)
        text = evutil_socket_error_to_string(error);
    (void)snprintf(out, room, "%s%s", ssl != NULL ? "TLS: " : "",
                   text != NULL ? text : "the connection failed");
}

static void on_handshake(struct bufferevent *bev, short what, void *arg)
{
    struct dial *d = arg;
    char why[160];

    d->bev = NULL;
    (void)event_del(d->deadline);
    if ((what & BEV_EVENT_CONNECTED) != 0) {
        bufferevent_setcb(bev, NULL, NULL, NULL, NULL);
        (void)bufferevent_disable(bev, EV_READ | EV_WRITE);
        finish(d, bev);
        return;
    }
    dial_explain(bev, what, why, sizeof(why));
    bufferevent_free(bev);
    give_up_address(d, why);
}

static bool trust(SSL_CTX *ctx, const char *ca_file)
{
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (ca_file != NULL)
        return SSL_CTX_load_verify_locations(ctx, ca_file, NULL) == 1;
    return SSL_CTX_set_default_verify_paths(ctx) == 1;
}

/* A certificate names a host by name or by number, and only names go into SNI. host is not const
 * for OpenSSL's macro, which casts it. */
static bool expect_host(SSL *ssl, char *host)
{
    struct resolve_list list;

    if (strcmp(host, "localhost") != 0 && resolve_now(host, 0, &list))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* The authorities are read anew for each dial, so that a renewed file needs no restart. */
static SSL *tls_new(const struct url *url)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = NULL;

    if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
        !trust(ctx, url->ca_file))
        goto out;
    ssl = SSL_new(ctx);
    if (ssl != NULL && !expect_host(ssl, url->host)) {
        SSL_free(ssl);
        ssl = NULL;
    }
out:
    SSL_CTX_free(ctx);
    ERR_clear_error();
    return ssl;
}

static void arm(struct dial *d)
{
    struct timeval t = clock_timeval(d->timeout_ms);

    if (event_add(d->deadline, &t) != 0)
        abort();
}

static void shake_hands(struct dial *d, int fd)
{
    SSL *ssl = tls_new(d->url);

    if (ssl == NULL) {
        (void)close(fd);
        give_up_address(d, d->url->ca_file != NULL ? "TLS: the file of authorities cannot be read"
                                                   : "TLS cannot be set up");
        return;
    }
    d->bev = bufferevent_openssl_socket_new(d->base, fd, ssl, BUFFEREVENT_SSL_CONNECTING,
                                            BEV_OPT_CLOSE_ON_FREE);
    if (d->bev == NULL)
        abort();
    bufferevent_setcb(d->bev, NULL, NULL, on_handshake, d);
    if (bufferevent_enable(d->bev, EV_READ | EV_WRITE) != 0)
        abort();
    arm(d);
}

static void on_connected(struct dial *d)
{
    int fd = d->fd;
    int on = 1;
    struct bufferevent *bev;

    d->fd = -1;
    if (d->url->path == NULL) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    if (d->url->tls) {
        shake_hands(d, fd);
        return;
    }
    bev = bufferevent_socket_new(d->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (bev == NULL)
        abort();
    (void)bufferevent_disable(bev, EV_READ | EV_WRITE);
    finish(d, bev);
}

static void close_fd(struct dial *d)
{
    if (d->connecting != NULL)
        event_free(d->connecting);
    d->connecting = NULL;
    if (d->fd != -1)
        (void)close(d->fd);
    d->fd = -1;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct dial *d = arg;
    int error = ETIMEDOUT;
    socklen_t size = sizeof(error);

    if ((what & EV_WRITE) != 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    event_free(d->connecting);
    d->connecting = NULL;
    if (error == 0) {
        on_connected(d);
        return;
    }
    close_fd(d);
    give_up_address(d, evutil_socket_error_to_string(error));
}

static void wait_writable(struct dial *d)
{
    struct timeval t = clock_timeval(d->timeout_ms);

    d->connecting = event_new(d->base, d->fd, EV_WRITE, on_writable, d);
    if (d->connecting == NULL || event_add(d->connecting, &t) != 0)
        abort();
}

static void try_next(struct dial *d)
{
    for (; d->left > 0; d->left--) {
        const struct resolve_address *a = address(d);

        d->fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (d->fd != -1 && connect(d->fd, (const struct sockaddr *)&a->sa, a->size) == 0) {
            on_connected(d);
            return;
        }
        if (d->fd != -1 && errno == EINPROGRESS) {
            wait_writable(d);
            return;
        }
        note(d, evutil_socket_error_to_string(errno));
        close_fd(d);
    }
    finish(d, NULL);
}

static void on_resolved(void *arg, const struct resolve_list *list, const char *why)
{
    struct dial *d = arg;

    d->resolving = NULL;
    (void)event_del(d->deadline);
    if (list == NULL) {
        (void)snprintf(d->why, sizeof(d->why), "%s", why);
        finish(d, NULL);
        return;
    }
    d->list = *list;
    d->left = list->n;
    try_next(d);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct dial *d = arg;

    (void)fd;
    (void)what;
    if (d->resolving != NULL) {
        resolve_cancel(d->resolving);
        d->resolving = NULL;
        (void)snprintf(d->why, sizeof(d->why), "%.100s: no answer from the name service",
                       d->url->host);
        finish(d, NULL);
        return;
    }
    bufferevent_free(d->bev);
    d->bev = NULL;
    give_up_address(d, "TLS: no answer");
}

static bool use_path(struct dial *d)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    size_t n = strlen(d->url->path);

    if (n >= sizeof(sa.sun_path)) {
        (void)snprintf(d->why, sizeof(d->why), "the path of the socket is too long");
        return false;
    }
    memcpy(sa.sun_path, d->url->path, n);
    memcpy(&d->list.at[0].sa, &sa, sizeof(sa));
    d->list.at[0].size = sizeof(sa);
    d->list.n = 1;
    return true;
}

struct dial *dial_new(struct event_base *base, const struct url *url, uint64_t timeout_ms,
                      dial_fn *fn, void *arg)
{
    struct dial *d = mem_zalloc(sizeof(*d));

    d->base = base;
    d->url = url;
    d->timeout_ms = timeout_ms;
    d->fn = fn;
    d->arg = arg;
    d->fd = -1;
    d->dials = (size_t)-1;
    d->deadline = event_new(base, -1, 0, on_deadline, d);
    if (d->deadline == NULL)
        abort();
    return d;
}

void dial_free(struct dial *d)
{
    if (d == NULL)
        return;
    dial_stop(d);
    event_free(d->deadline);
    free(d);
}

void dial_start(struct dial *d)
{
    const struct url *url = d->url;

    assert(d->resolving == NULL && d->connecting == NULL && d->bev == NULL);
    d->dials++;
    d->why[0] = '\0';
    if (url->path != NULL) {
        if (!use_path(d)) {
            finish(d, NULL);
            return;
        }
    } else if (!resolve_now(url->host, url->port, &d->list)) {
        arm(d);
        d->resolving = resolve_start(d->base, url->host, url->port, on_resolved, d);
        return;
    }
    d->left = d->list.n;
    try_next(d);
}

void dial_stop(struct dial *d)
{
    if (d->resolving != NULL)
        resolve_cancel(d->resolving);
    d->resolving = NULL;
    close_fd(d);
    if (d->bev != NULL)
        bufferevent_free(d->bev);
    d->bev = NULL;
    (void)event_del(d->deadline);
}
