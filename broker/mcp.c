#include "broker/mcp.h"

#include "broker/admin.h"
#include "broker/arrive.h"
#include "broker/auth.h"
#include "broker/l/get.h"
#include "broker/origin.h"
#include "broker/rpc.h"
#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

/* GET and DELETE wait for their principal here; POST does so in req.c. */
struct arrival {
    struct broker *b;
    struct http_req *http;
    bool gone;
};

static void answer(struct http_req *r, enum err e, int status, const char *why)
{
    struct buf out;

    buf_init(&out, 1024);
    rpc_write_error(&out, (struct span){NULL, 0}, err_rpc(e), span_of(why), (struct span){NULL, 0});
    http_reply(r, status, "application/json", buf_span(&out));
    buf_fini(&out);
}

static void refuse(struct http_req *r, enum err e)
{
    if (e == ERR_UNAUTHORIZED)
        http_set_header(r, "WWW-Authenticate",
                        auth_challenge(http_header(r, "Authorization") != NULL));
    answer(r, e, err_http(e), err_text(e));
}

static void serve_stream(struct broker *b, struct http_req *r, const struct principal *who)
{
    auth_bind(b->auth, r, who);
    if (http_method(r) == HTTP_GET)
        l_get(b, r, who);
    else
        l_delete(b, r, who);
}

static void on_principal(void *arg, enum err e, const struct principal *who)
{
    struct arrival *a = arg;

    if (!a->gone) {
        if (e != ERR_OK)
            refuse(a->http, e);
        else
            serve_stream(a->b, a->http, who);
    }
    free(a);
}

static void on_gone(void *arg)
{
    ((struct arrival *)arg)->gone = true;
}

static void authenticate(struct broker *b, struct http_req *r)
{
    struct arrival *a = mem_zalloc(sizeof(*a));
    struct principal who;
    enum err e;

    a->b = b;
    a->http = r;
    if (!auth_check(b->auth, r, &e, &who, on_principal, a)) {
        http_hold(r, on_gone, a);
        return;
    }
    free(a);
    if (e != ERR_OK)
        refuse(r, e);
    else
        serve_stream(b, r, &who);
}

static void serve_mcp(struct broker *b, struct http_req *r)
{
    const char *why = origin_check(b->conf, r);

    if (why != NULL) {
        answer(r, ERR_FORBIDDEN, 403, why);
        return;
    }
    if (strcmp(b->conf->dialects, "m") == 0 && http_method(r) != HTTP_POST) {
        http_set_header(r, "Allow", "POST");
        answer(r, ERR_INVALID_REQUEST, 405, "this endpoint takes POST");
        return;
    }
    switch (http_method(r)) {
    case HTTP_POST:
        arrive(b, r);
        return;
    case HTTP_GET:
    case HTTP_DELETE:
        authenticate(b, r);
        return;
    case HTTP_OTHER:
        break;
    }
    http_set_header(r, "Allow", "GET, POST, DELETE");
    answer(r, ERR_INVALID_REQUEST, 405, "this endpoint takes GET, POST and DELETE");
}

void mcp_serve(void *arg, struct http_req *r)
{
    struct broker *b = arg;

    if (strcmp(http_path(r), "/mcp") == 0)
        serve_mcp(b, r);
    else if (!admin_serve(b, r))
        answer(r, ERR_NOT_FOUND, 404, "there is nothing here: the MCP endpoint is /mcp");
}
