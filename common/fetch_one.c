#include "common/fetch_inside.h"

#include "common/clock.h"
#include "common/fetch_easy.h"
#include "common/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CONNECT_MS = 10000, BODY_MAX = 1 << 20, RETRY_DIGITS = 9 };

/* --- what comes --- */

static bool is_redirect(unsigned status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool will_follow(const struct fetch *f)
{
    return f->redirects > 0 && f->is_get && is_redirect(f->status);
}

static void head_came(struct fetch *f)
{
    f->has_head = true;
    if (f->on_head != NULL && !f->is_dead && !will_follow(f))
        f->is_streamed = f->on_head(f->arg, f);
}

/* A line of the head, one at a time, of every answer: also of those before the last.
 * curl's type: the bytes are not const. NOLINTNEXTLINE(readability-non-const-parameter) */
static size_t on_line(char *p, size_t size, size_t n, void *arg)
{
    struct fetch *f = arg;
    size_t len = size * n;
    long status = 0;

    if (len >= 5 && memcmp(p, "HTTP/", 5) == 0) {
        buf_reset(&f->headers);
        f->has_head = false;
    }
    if (f->has_head)
        return len; /* a trailer */
    (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    f->status = (unsigned)status;
    if (p[0] == '\r' || p[0] == '\n') {
        if (status >= 200)
            head_came(f);
        return f->is_dead ? 0 : len;
    }
    buf_add(&f->headers, p, len);
    f->too_large = !buf_ok(&f->headers);
    return f->too_large ? 0 : len;
}

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    struct fetch *f = arg;
    size_t len = size * n;

    if (f->is_dead)
        return len + 1;
    if (will_follow(f))
        return len;
    if (f->is_streamed) {
        if (f->on_bytes != NULL)
            f->on_bytes(f->arg, f, (struct span){p, len});
        return f->is_dead ? len + 1 : len;
    }
    buf_add(&f->body, p, len);
    f->too_large = !buf_ok(&f->body);
    return f->too_large ? len + 1 : len;
}

unsigned fetch_status(const struct fetch *f)
{
    return f->status;
}

static struct span trimmed(struct span s)
{
    while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    while (s.n > 0 && (unsigned char)s.p[0] <= ' ')
        s = (struct span){s.p + 1, s.n - 1};
    return s;
}

struct span fetch_header(const struct fetch *f, const char *name)
{
    struct span rest = buf_span(&f->headers);
    size_t n = strlen(name);

    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t line = end == NULL ? rest.n : (size_t)(end - rest.p) + 1;

        if (line > n && rest.p[n] == ':' && strncasecmp(rest.p, name, n) == 0)
            return trimmed((struct span){rest.p + n + 1, line - n - 1});
        rest = (struct span){rest.p + line, rest.n - line};
    }
    return (struct span){NULL, 0};
}

uint64_t fetch_retry_ms(const struct fetch *f)
{
    struct span said = fetch_header(f, "Retry-After");
    uint64_t seconds = 0;
    char text[64];
    time_t at;

    if (said.n == 0 || said.n >= sizeof(text))
        return UINT64_MAX;
    memcpy(text, said.p, said.n);
    text[said.n] = '\0';
    if (strspn(text, "0123456789") == said.n && said.n <= RETRY_DIGITS) {
        for (size_t i = 0; i < said.n; i++)
            seconds = seconds * 10 + (unsigned)(text[i] - '0');
        return seconds * 1000;
    }
    at = curl_getdate(text, NULL);
    if (at == -1)
        return UINT64_MAX;
    return (uint64_t)at * 1000 > clock_wall_ms() ? (uint64_t)at * 1000 - clock_wall_ms() : 0;
}

/* --- redirects --- */

static char *part_of(CURLU *u, CURLUPart part)
{
    char *text = NULL;

    return curl_url_get(u, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = part_of(a, part);
    char *y = part_of(b, part);
    bool same = x != NULL && y != NULL && strcasecmp(x, y) == 0;

    curl_free(x);
    curl_free(y);
    return same;
}

static bool is_plain(CURLU *u)
{
    char *scheme = part_of(u, CURLUPART_SCHEME);
    bool plain = scheme != NULL && strcmp(scheme, "http") == 0;

    curl_free(scheme);
    return plain;
}

static bool parse(CURLU *u, const char *url)
{
    return u != NULL && url != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK;
}

/* 1: another place; 0: the same host; -1: nowhere that we go. */
static int compare_places(const char *from, const char *to)
{
    CURLU *a = curl_url();
    CURLU *b = curl_url();
    int how = -1;

    if (parse(a, from) && parse(b, to) && (is_plain(a) || !is_plain(b)))
        how = same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
                      same_part(a, b, CURLUPART_PORT)
                  ? 0
                  : 1;
    curl_url_cleanup(a);
    curl_url_cleanup(b);
    return how;
}

bool fetch_one_redirected(struct fetch *f)
{
    char *from = NULL;
    char *to = NULL;
    int how;

    if (!will_follow(f))
        return false;
    (void)curl_easy_getinfo(f->easy, CURLINFO_EFFECTIVE_URL, &from);
    (void)curl_easy_getinfo(f->easy, CURLINFO_REDIRECT_URL, &to);
    how = compare_places(from, to);
    if (how < 0)
        return false;
    if (how > 0) {
        (void)curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, NULL);
        curl_slist_free_all(f->lines);
        f->lines = NULL;
    }
    f->redirects--;
    f->status = 0;
    buf_reset(&f->headers);
    return curl_easy_setopt(f->easy, CURLOPT_URL, to) == CURLE_OK; /* copies it */
}

/* --- making one --- */

static void add_line(struct fetch *f, const char *line)
{
    struct curl_slist *more = curl_slist_append(f->lines, line);

    if (more == NULL)
        abort();
    f->lines = more;
}

static void set_headers(struct fetch *f, const struct fetch_request *r)
{
    bool has_type = false;

    for (size_t i = 0; i < r->header_count; i++) {
        add_line(f, r->headers[i]);
        has_type = has_type || strncasecmp(r->headers[i], "Content-Type:", 13) == 0;
    }
    add_line(f, "Expect:"); /* curl's own for large bodies: who does not answer it costs a second */
    if (!has_type) /* nor curl's own guess */
        add_line(f, "Content-Type:");
    (void)curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->lines);
}

static void set_method(const struct fetch *f, const struct fetch_request *r)
{
    bool takes_body = r->body.p != NULL || strcmp(r->method, "POST") == 0 ||
                      strcmp(r->method, "PUT") == 0 || strcmp(r->method, "PATCH") == 0;

    if (takes_body) {
        (void)curl_easy_setopt(f->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
        if (curl_easy_setopt(f->easy, CURLOPT_COPYPOSTFIELDS, r->body.p != NULL ? r->body.p : "") !=
            CURLE_OK)
            abort();
    }
    if (strcmp(r->method, "HEAD") == 0)
        fetch_easy_set(f->easy, CURLOPT_NOBODY, 1);
    else if (strcmp(r->method, takes_body ? "POST" : "GET") != 0)
        (void)curl_easy_setopt(f->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void set_limits(const struct fetch *f, const struct fetch_request *r)
{
    fetch_easy_set(f->easy, CURLOPT_CONNECTTIMEOUT_MS,
                   r->connect_ms > 0 ? (long)r->connect_ms : CONNECT_MS);
    fetch_easy_set(f->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    if (r->silence_ms > 0) {
        fetch_easy_set(f->easy, CURLOPT_LOW_SPEED_LIMIT, 1);
        fetch_easy_set(f->easy, CURLOPT_LOW_SPEED_TIME, (long)((r->silence_ms + 999) / 1000));
    }
}

static void set_options(struct fetch *f, const struct fetch_request *r)
{
    CURL *e = f->easy;

    (void)curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_line);
    (void)curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
    (void)curl_easy_setopt(e, CURLOPT_PRIVATE, f);
    if (r->ca_file != NULL)
        (void)curl_easy_setopt(e, CURLOPT_CAINFO, r->ca_file);
    fetch_easy_set(e, CURLOPT_SSL_VERIFYPEER, 1);
    fetch_easy_set(e, CURLOPT_SSL_VERIFYHOST, 2);
    fetch_easy_set(e, CURLOPT_FOLLOWLOCATION, 0);
}

struct fetch *fetch_one_new(struct fetcher *all, const struct fetch_request *r)
{
    struct fetch *f = mem_zalloc(sizeof(*f));

    list_init(&f->node);
    f->all = all;
    f->is_get = strcmp(r->method, "GET") == 0 && r->body.p == NULL;
    f->redirects = r->redirects;
    f->on_head = r->on_head;
    f->on_bytes = r->on_bytes;
    f->on_done = r->on_done;
    f->arg = r->arg;
    buf_init(&f->headers, FETCH_HEADERS_MAX);
    buf_init(&f->body, r->body_max > 0 ? r->body_max : BODY_MAX);
    f->easy = fetch_easy(r->url, f->error);
    set_options(f, r);
    set_limits(f, r);
    set_headers(f, r);
    set_method(f, r);
    return f;
}

void fetch_one_free(struct fetch *f)
{
    curl_easy_cleanup(f->easy);
    curl_slist_free_all(f->lines);
    buf_fini(&f->headers);
    buf_fini(&f->body);
    free(f);
}
