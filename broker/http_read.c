#include "broker/http_internal.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum http_method http_method(const struct http_req *r)
{
    switch (r->ev->type) {
    case EVHTTP_REQ_GET:
        return HTTP_GET;
    case EVHTTP_REQ_POST:
        return HTTP_POST;
    case EVHTTP_REQ_DELETE:
        return HTTP_DELETE;
    case EVHTTP_REQ_HEAD:
    case EVHTTP_REQ_PUT:
    case EVHTTP_REQ_OPTIONS:
    case EVHTTP_REQ_TRACE:
    case EVHTTP_REQ_CONNECT:
    case EVHTTP_REQ_PATCH:
    default:
        return HTTP_OTHER;
    }
}

const char *http_path(const struct http_req *r)
{
    return r->ev->uri;
}

const char *http_query(const struct http_req *r)
{
    return r->query;
}

/* libevent's own search compares letter by letter, in a function call each. */
const char *http_header(const struct http_req *r, const char *name)
{
    const struct evkeyval *it;

    for (it = r->ev->input_headers->tqh_first; it != NULL; it = it->next.tqe_next) {
        if ((it->key[0] | 0x20) == (name[0] | 0x20) && strcasecmp(it->key, name) == 0)
            return it->value + strspn(it->value, " \t");
    }
    return NULL;
}

unsigned http_header_count(const struct http_req *r, const char *name)
{
    unsigned n = 0;
    const struct evkeyval *it;

    for (it = r->ev->input_headers->tqh_first; it != NULL; it = it->next.tqe_next)
        n += strcasecmp(it->key, name) == 0;
    return n;
}

struct span http_body(struct http_req *r)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(r->ev);
    size_t n = evbuffer_get_length(in);

    if (n == 0)
        return SPAN("");
    return (struct span){(const char *)evbuffer_pullup(in, -1), n};
}

const char *http_peer(const struct http_req *r)
{
    return r->ev->remote_host;
}

/* Is this element of Accept, up to its end, a range that holds type? */
static bool range_holds(const char *p, size_t n, const char *type)
{
    size_t major = strcspn(type, "/");

    if (n == 3 && memcmp(p, "*/*", 3) == 0)
        return true;
    if (n == major + 2 && memcmp(p + major, "/*", 2) == 0)
        return strncasecmp(p, type, major) == 0;
    return n == strlen(type) && strncasecmp(p, type, n) == 0;
}

/* q=0, q=0.0 and so on: "anything but this". */
static bool is_ruled_out(const char *params, const char *end)
{
    while (params < end) {
        params += strspn(params, "; \t");
        if (strncasecmp(params, "q=", 2) == 0)
            return params + 2 < end && strtod(params + 2, NULL) <= 0.0;
        params += strcspn(params, ";,");
        if (*params == ',')
            return false;
    }
    return false;
}

/* by_name: a range does not count. */
static bool list_holds(const char *p, const char *type, bool by_name)
{
    while (*p != '\0') {
        const char *end = p + strcspn(p, ",");
        size_t n;

        p += strspn(p, " \t");
        n = strcspn(p, "; \t,");
        if (p < end && range_holds(p, n, type) && (!by_name || n == strlen(type))) {
            if (!is_ruled_out(p + strcspn(p, ";,"), end))
                return true;
        }
        p = *end == ',' ? end + 1 : end;
    }
    return false;
}

bool http_accepts(const struct http_req *r, const char *type)
{
    bool absent = true;
    const struct evkeyval *it;

    for (it = r->ev->input_headers->tqh_first; it != NULL; it = it->next.tqe_next) {
        if (strcasecmp(it->key, "Accept") != 0)
            continue;
        absent = false;
        if (list_holds(it->value, type, false))
            return true;
    }
    return absent;
}

bool http_names(const struct http_req *r, const char *type)
{
    const struct evkeyval *it;

    for (it = r->ev->input_headers->tqh_first; it != NULL; it = it->next.tqe_next)
        if (strcasecmp(it->key, "Accept") == 0 && list_holds(it->value, type, true))
            return true;
    return false;
}

bool http_streams(const struct http_req *r)
{
    return r->ev->major == 1 && r->ev->minor >= 1;
}
