#include "broker/http_internal.h"

#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <strings.h>

enum { SINGLE_MAX = 7 };

struct tally {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    const char *length;
    const char *encoding;
    bool doubled; /* one of the single ones came twice */
    bool seen[SINGLE_MAX];
};

/* What a balancer before us and we would read differently when it came twice. */
static const char *const single[] = {"Authorization", "Mcp-Session-Id", "MCP-Protocol-Version",
                                     "Mcp-Method",    "Mcp-Name",       "Last-Event-ID",
                                     "Origin"};

static bool is_token(const char *p)
{
    if (*p == '\0')
        return false;
    for (; *p != '\0'; p++) {
        if (!http_is_token_char((unsigned char)*p))
            return false;
    }
    return true;
}

static void count_single(struct tally *t, const char *name)
{
    for (size_t i = 0; i < SINGLE_MAX; i++) {
        if (strcasecmp(name, single[i]) != 0)
            continue;
        t->doubled = t->doubled || t->seen[i];
        t->seen[i] = true;
    }
}

static void count_header(struct tally *t, const char *name, const char *value)
{
    switch (name[0] | 0x20) {
    case 'h':
        t->hosts += strcasecmp(name, "Host") == 0;
        break;
    case 'c':
        if (strcasecmp(name, "Content-Length") == 0) {
            t->lengths++;
            t->length = value;
        }
        break;
    case 't':
        if (strcasecmp(name, "Transfer-Encoding") == 0) {
            t->encodings++;
            t->encoding = value;
        }
        break;
    case 'a':
    case 'l':
    case 'm':
    case 'o':
        count_single(t, name);
        break;
    default:
        break;
    }
}

static bool is_plain_length(const char *p)
{
    size_t n = strspn(p, "0123456789");

    return n >= 1 && n <= 10 && p[n] == '\0';
}

/* Origin form: a path and perhaps a query, nothing decoded. */
static bool is_plain_target(const char *p)
{
    if (*p != '/')
        return false;
    for (; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if (c <= ' ' || c >= 0x7f || c == '#' || c == '"' || c == '<' || c == '>' || c == '\\')
            return false;
    }
    return true;
}

/* evhttp leaves the body of these unread, so one must not have been sent. */
static bool body_is_unread(const struct evhttp_request *ev)
{
    return ev->type != EVHTTP_REQ_GET && ev->type != EVHTTP_REQ_POST &&
           ev->type != EVHTTP_REQ_PUT && ev->type != EVHTTP_REQ_PATCH &&
           ev->type != EVHTTP_REQ_DELETE && ev->type != EVHTTP_REQ_OPTIONS;
}

static const char *check_body(const struct evhttp_request *ev, const struct tally *t, int *status)
{
    if (t->encodings > 1 || (t->encodings == 1 && strcasecmp(t->encoding, "chunked") != 0)) {
        *status = 501;
        return "this transfer encoding is not understood";
    }
    if (t->encodings == 1) {
        *status = 411;
        return "send the body with a Content-Length, not chunked";
    }
    if (t->lengths > 1)
        return "there is more than one Content-Length";
    if (t->lengths == 1 && !is_plain_length(t->length))
        return "the Content-Length is not a plain number";
    if (t->lengths == 1 && body_is_unread(ev) && strspn(t->length, "0") != strlen(t->length))
        return "a request of this method takes no body";
    return NULL;
}

static const char *check_headers(const struct evhttp_request *ev, int *status)
{
    struct tally t = {0};
    const struct evkeyval *it;

    for (it = ev->input_headers->tqh_first; it != NULL; it = it->next.tqe_next) {
        if (!is_token(it->key))
            return "a header's name is not a token";
        count_header(&t, it->key, it->value);
    }
    if (t.hosts > 1 || (t.hosts == 0 && ev->minor == 1))
        return "there must be exactly one Host";
    if (t.doubled)
        return "a header that counts once is there twice";
    return check_body(ev, &t, status);
}

const char *valid_request(struct evhttp_request *ev, unsigned flaws, int *status)
{
    bool known = ev->major == 1 && (ev->minor == 0 || ev->minor == 1);

    *status = 400;
    if (flaws == HTTP_FLAW_VERSION || (flaws == 0 && !known))
        *status = 505;
    if (flaws != 0 || !known)
        return http_scan_text(flaws);
    if (!is_plain_target(ev->uri))
        return "the request's target must be a plain path";
    return check_headers(ev, status);
}
