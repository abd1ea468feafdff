#include "broker/admin.h"

#include "broker/hooks.h"
#include "broker/scrape.h"

#include <string.h>

static void healthz(struct broker *b, struct http_req *r)
{
    (void)b;
    http_reply(r, 200, "application/json", SPAN("{\"status\":\"ok\"}"));
}

static void readyz(struct broker *b, struct http_req *r)
{
    if (b->draining)
        http_reply(r, 503, "application/json",
                   SPAN("{\"status\":\"unavailable\",\"reason\":\"draining\"}"));
    else if (!store_is_ready(b->store))
        http_reply(r, 503, "application/json",
                   SPAN("{\"status\":\"unavailable\",\"reason\":\"redis cannot be used\"}"));
    else
        http_reply(r, 200, "application/json", SPAN("{\"status\":\"ready\"}"));
}

static void console(struct broker *b, struct http_req *r)
{
    (void)b;
    http_reply(r, 501, "application/json",
               SPAN("{\"error\":\"the operator's page is not there yet in this version: errand top "
                    "shows the same in a terminal\"}"));
}

/* 404 and nothing else: clients look here after a 401, and take only that for "no OAuth here". */
static void resource_metadata(struct broker *b, struct http_req *r)
{
    (void)b;
    http_reply(r, 404, "application/json",
               SPAN("{\"error\":\"resource metadata belongs to JWT, which is not there yet in this "
                    "version; --auth key takes keys made with errand key new\"}"));
}

static const struct {
    const char *path;
    void (*serve)(struct broker *b, struct http_req *r);
    bool prefix; /* everything below it too */
    bool any_method;
} rows[] = {
    {"/healthz", healthz, false, false},
    {"/readyz", readyz, false, false},
    {"/metrics", scrape_serve, false, false},
    {"/hooks/", hooks_serve, true, true},
    {"/console", console, false, true},
    {"/.well-known/oauth-protected-resource", resource_metadata, false, true},
    {"/.well-known/oauth-protected-resource/mcp", resource_metadata, false, true},
};

bool admin_serve(struct broker *b, struct http_req *r)
{
    const char *path = http_path(r);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].path);

        if (rows[i].prefix ? strncmp(path, rows[i].path, n) != 0 : strcmp(path, rows[i].path) != 0)
            continue;
        if (!rows[i].any_method && http_method(r) != HTTP_GET) {
            http_set_header(r, "Allow", "GET");
            http_reply(r, 405, "application/json", SPAN("{\"error\":\"this endpoint takes GET\"}"));
        } else {
            rows[i].serve(b, r);
        }
        return true;
    }
    return false;
}
