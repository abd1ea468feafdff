#include "deploy/cli/wire.h"

#include "common/fetch_easy.h"
#include "common/mem.h"
#include "deploy/cli/stream.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
    ANSWER_MAX = 300 << 20, /* a result of a broker's largest --max-result, and its wrapping */
    CONNECT_MS = 5000,
    SESSION_MAX = 256,
};

struct wire {
    CURLM *multi;
    const char *url;
    const char *key;
    int fd;
};

struct exchange {
    struct wire *w;
    CURL *easy;
    struct curl_slist *headers;
    wire_fn *fn;
    void *arg;
    struct buf body;
    struct stream stream;
    char error[CURL_ERROR_SIZE];
    char session[SESSION_MAX];
    unsigned retry_s;
    bool is_stream;
    bool done;
    CURLcode code;
};

struct wire *wire_new(const char *url, const char *key)
{
    struct wire *w = mem_zalloc(sizeof(*w));

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
    w->multi = curl_multi_init();
    if (w->multi == NULL)
        abort();
    w->url = url;
    w->key = key;
    w->fd = -1;
    return w;
}

void wire_free(struct wire *w)
{
    if (w == NULL)
        return;
    (void)curl_multi_cleanup(w->multi);
    curl_global_cleanup();
    free(w);
}

static bool header_is(struct span line, const char *name, struct span *value)
{
    size_t n = strlen(name);

    if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
        return false;
    value->p = line.p + n + 1;
    value->n = line.n - n - 1;
    while (value->n > 0 && (value->p[0] == ' ' || value->p[0] == '\t')) {
        value->p++;
        value->n--;
    }
    while (value->n > 0 && (unsigned char)value->p[value->n - 1] <= ' ')
        value->n--;
    return true;
}

/* libcurl's type: the bytes are not const. NOLINTNEXTLINE(readability-non-const-parameter) */
/* curl says what a callback looks like. NOLINTNEXTLINE(readability-non-const-parameter) */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct span line = {p, size * n};
    struct span v;

    if (header_is(line, "mcp-session-id", &v) && v.n < sizeof(x->session)) {
        memcpy(x->session, v.p, v.n);
        x->session[v.n] = '\0';
    } else if (header_is(line, "content-type", &v)) {
        x->is_stream = v.n >= 17 && strncasecmp(v.p, "text/event-stream", 17) == 0;
    } else if (header_is(line, "retry-after", &v)) {
        x->retry_s = 0;
        for (size_t i = 0; i < v.n && i < 4 && v.p[i] >= '0' && v.p[i] <= '9'; i++)
            x->retry_s = x->retry_s * 10 + (unsigned)(v.p[i] - '0');
    }
    return size * n;
}

static bool is_success(const struct exchange *x)
{
    return exchange_status(x) >= 200 && exchange_status(x) <= 299;
}

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;

    if (x->is_stream && is_success(x))
        return stream_feed(&x->stream, p, size * n) ? size * n : 0;
    buf_add(&x->body, p, size * n);
    return buf_ok(&x->body) ? size * n : 0;
}

static void on_data(void *arg, struct span data)
{
    struct exchange *x = arg;

    if (data.n > 0 && x->fn != NULL)
        x->fn(x->arg, data);
}

static void add_header(struct exchange *x, const char *name, const char *value)
{
    struct buf line;
    struct curl_slist *list;

    buf_init(&line, 64 << 10);
    buf_addf(&line, "%s: %s", name, value);
    list = buf_ok(&line) ? curl_slist_append(x->headers, line.p) : NULL;
    if (list == NULL)
        abort();
    x->headers = list;
    buf_wipe(&line);
}

static void set_headers(struct exchange *x, const struct wire_head *head, bool post)
{
    struct buf bearer;

    if (post) {
        add_header(x, "Content-Type", "application/json");
        add_header(x, "Accept", "application/json, text/event-stream");
    }
    if (head->is_get)
        add_header(x, "Accept", "text/event-stream");
    if (head->session != NULL)
        add_header(x, "Mcp-Session-Id", head->session);
    if (head->version != NULL)
        add_header(x, "MCP-Protocol-Version", head->version);
    if (x->w->key != NULL) {
        buf_init(&bearer, 32 << 10);
        buf_addf(&bearer, "Bearer %s", x->w->key);
        add_header(x, "Authorization", buf_ok(&bearer) ? bearer.p : "Bearer");
        buf_wipe(&bearer);
    }
}

static void set_options(struct exchange *x, struct span body, bool is_get)
{
    CURL *e = x->easy;

    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, x->headers);
    (void)curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(e, CURLOPT_HEADERDATA, x);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, x);
    (void)curl_easy_setopt(e, CURLOPT_PRIVATE, x);
    fetch_easy_set(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    if (is_get)
        return;
    if (body.p == NULL) {
        (void)curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, "DELETE");
        fetch_easy_set(e, CURLOPT_TIMEOUT_MS, CONNECT_MS);
        return;
    }
    fetch_easy_set(e, CURLOPT_POST, 1);
    (void)curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    if (curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, body.p) != CURLE_OK)
        abort();
}

struct exchange *wire_start(struct wire *w, const struct wire_head *head, struct span body,
                            wire_fn *fn, void *arg)
{
    struct exchange *x = mem_zalloc(sizeof(*x));

    x->w = w;
    x->fn = fn;
    x->arg = arg;
    buf_init(&x->body, ANSWER_MAX);
    stream_init(&x->stream, ANSWER_MAX, on_data, x);
    x->easy = fetch_easy(w->url, x->error);
    set_headers(x, head, body.p != NULL);
    set_options(x, body, head->is_get);
    if (curl_multi_add_handle(w->multi, x->easy) != CURLM_OK)
        abort();
    return x;
}

static void finish(struct exchange *x, CURLcode code)
{
    x->done = true;
    x->code = code;
    if (code == CURLE_OK && is_success(x) && !x->is_stream && x->body.n > 0 && x->fn != NULL)
        x->fn(x->arg, buf_span(&x->body));
}

static bool collect(struct wire *w)
{
    struct exchange *x;
    CURLMsg *m;
    bool any = false;
    int left;

    while ((m = curl_multi_info_read(w->multi, &left)) != NULL) {
        if (m->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        finish(x, m->data.result);
        any = true;
    }
    return any;
}

void wire_listen(struct wire *w, int fd)
{
    w->fd = fd;
}

void wire_turn(struct wire *w, unsigned ms)
{
    struct curl_waitfd fd = {.fd = w->fd, .events = CURL_WAIT_POLLIN};
    int running;

    (void)curl_multi_perform(w->multi, &running);
    if (collect(w))
        return;
    (void)curl_multi_poll(w->multi, &fd, w->fd != -1 ? 1 : 0, (int)ms, NULL);
    (void)curl_multi_perform(w->multi, &running);
    (void)collect(w);
}

bool exchange_done(const struct exchange *x)
{
    return x->done;
}

long exchange_status(const struct exchange *x)
{
    long status = 0;

    if (!x->done || x->code == CURLE_OK || x->is_stream)
        (void)curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const char *exchange_error(const struct exchange *x)
{
    if (!x->done || x->code == CURLE_OK)
        return "";
    return x->error[0] != '\0' ? x->error : curl_easy_strerror(x->code);
}

const char *exchange_session(const struct exchange *x)
{
    return x->session;
}

unsigned exchange_retry_s(const struct exchange *x)
{
    return x->retry_s;
}

struct span exchange_body(const struct exchange *x)
{
    return buf_span(&x->body);
}

void exchange_end(struct exchange *x)
{
    if (x == NULL)
        return;
    (void)curl_multi_remove_handle(x->w->multi, x->easy);
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    buf_fini(&x->body);
    stream_fini(&x->stream);
    free(x);
}
