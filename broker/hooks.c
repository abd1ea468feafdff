#include "broker/hooks.h"

#include "broker/hook_proof.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/store_hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A callback that has passed and waits for Redis. */
struct hook {
    struct http_req *http;
    bool gone;
    char id[ID_LEN + 1];
};

static void answer(struct http_req *r, int status, const char *key, const char *text)
{
    char body[256];

    (void)snprintf(body, sizeof(body), "{\"%s\":\"%s\"}", key, text);
    http_reply(r, status, "application/json", span_of(body));
}

static void refuse(struct http_req *r, int status, const char *why)
{
    LOG(CALLBACK_REFUSED, S("peer", http_peer(r)), S("why", why));
    answer(r, status, "error", why);
}

static bool is_signed(const struct broker *b, struct http_req *r, struct span id)
{
    const struct hook_signature s = {.message = http_header(r, "webhook-id"),
                                     .at = http_header(r, "webhook-timestamp"),
                                     .list = http_header(r, "webhook-signature")};

    return hook_is_signed(store_secret(b->store), clock_wall_ms(), id, &s, http_body(r));
}

/* --- what becomes of it --- */

static void on_stored(void *arg, enum err e)
{
    struct hook *h = arg;
    const char *outcome = e == ERR_OK ? "accepted" : e == ERR_TERMINAL ? "ignored" : err_name(e);

    LOG(CALLBACK, S("task", h->id), S("outcome", outcome));
    if (h->gone) {
        ; /* nobody is told */
    } else if (e == ERR_OK || e == ERR_TERMINAL) {
        answer(h->http, 200, "status", outcome);
    } else if (e == ERR_NOT_FOUND) {
        answer(h->http, 404, "error", "there is no such task");
    } else {
        http_set_header(h->http, "Retry-After", "5");
        answer(h->http, e == ERR_LIMIT ? 429 : 503, "error",
               e == ERR_LIMIT ? "too many callbacks of this task wait" : "try again later");
    }
    free(h);
}

static void on_gone(void *arg)
{
    ((struct hook *)arg)->gone = true;
}

static void take(struct broker *b, struct http_req *r, struct span id, unsigned partition)
{
    struct hook *h = mem_zalloc(sizeof(*h));

    h->http = r;
    memcpy(h->id, id.p, ID_LEN);
    http_hold(r, on_gone, h);
    store_hook(b->store, span_of(h->id), partition, http_body(r), on_stored, h);
}

static void serve(struct broker *b, struct http_req *r, struct span id, struct span token)
{
    enum hook_kind kind = hook_kind(store_secret(b->store), id, token);
    struct span body = http_body(r);
    unsigned partition;

    if (kind == HOOK_FOREIGN)
        refuse(r, 401, "this is no address that was given out");
    else if (body.n > STORE_HOOK_MAX)
        refuse(r, 413, "a callback may have 256 KiB");
    else if (kind == HOOK_SIGNED && !is_signed(b, r, id))
        refuse(r, 401, "the signature is missing, wrong or too old");
    else if (body.n == 0 || json_check_limits(body, 0, 0, NULL, NULL) != ERR_OK)
        refuse(r, 400, "the body is no JSON; send what a poll would have answered");
    else if (!id_parse(id, store_partitions(b->store), &partition))
        answer(r, 404, "error", "there is no such task");
    else
        take(b, r, id, partition);
}

void hooks_serve(struct broker *b, struct http_req *r)
{
    struct span id;
    struct span token;

    if (!hook_path(http_path(r), &id, &token)) {
        answer(r, 404, "error", "there is nothing here: callbacks are for /hooks/<task>/<token>");
    } else if (http_method(r) != HTTP_POST) {
        http_set_header(r, "Allow", "POST");
        answer(r, 405, "error", "this endpoint takes POST");
    } else if (!store_is_ready(b->store)) {
        http_set_header(r, "Retry-After", "1");
        answer(r, 503, "error", "try again later");
    } else {
        serve(b, r, id, token);
    }
}
