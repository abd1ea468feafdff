#include "worker/run/http_inside.h"

#include "common/clock.h"
#include "common/mem.h"
#include "common/seal.h"
#include "worker/result.h"
#include "worker/template.h"
#include "worker/tool_text.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LINE_MAX_BYTES = 64 << 10,
    LINES_MAX = 200,
    BODY_MAX = 8 << 20,
    ANSWER_MAX = 4 << 20, /* of a submit, a poll and a cancel */
    REDIRECTS = 5,
    SAID_MAX = 1000,
    URL_MAX = 4096,
    SECRET_MAX = 64 << 10,
    SAID_ROOM = 1 << 20,
    AGAIN_MAX_MS = 30000,
    RETRY_AFTER_MAX_MS = 3600 * 1000,
};

/* --- what is sent --- */

struct filling {
    struct template_facts facts;
    char url[URL_MAX];
    char secret[SEAL_HOOK_SECRET_LEN + 1];
    struct buf text; /* the URL that is asked */
    struct buf body;
    char *lines[LINES_MAX];
    size_t n;
};

/* The address says itself whether who calls it must sign. */
static void add_callback(struct filling *f, const struct http_one *o)
{
    const struct http_conf *conf = &o->all->conf;
    const unsigned char *secret = conf->secret != NULL ? conf->secret(conf->arg) : NULL;
    char tag[SEAL_HASH_LEN + 1];

    if (!o->tool->takes_callback || conf->public_url == NULL || secret == NULL)
        return;
    seal_tag(tag, secret, o->tool->signs_callback ? "hook-signed" : "hook", span_of(o->job->id));
    (void)snprintf(f->url, sizeof(f->url), "%s/hooks/%s/%s", conf->public_url, o->job->id, tag);
    seal_hook_secret(f->secret, secret, span_of(o->job->id));
}

static bool has_line(const struct filling *f, const char *line)
{
    size_t name = strcspn(line, ":") + 1;

    for (size_t i = 0; i < f->n; i++)
        if (strncasecmp(f->lines[i], line, name) == 0)
            return true;
    return false;
}

/* The first of a name counts: the request's own, then the tool's, then ours. */
static const char *add_line(struct filling *f, const char *line)
{
    const char *bad;
    struct buf b;

    if (f->n == LINES_MAX || has_line(f, line))
        return NULL;
    buf_init_secret(&b, LINE_MAX_BYTES);
    bad = template_fill(&b, line, TEMPLATE_HEADER, &f->facts);
    if (bad == NULL)
        f->lines[f->n++] = mem_dup(b.p, b.n);
    buf_wipe(&b);
    return bad;
}

static const char *add_lines(struct filling *f, const struct tool_list *l)
{
    const char *bad = NULL;

    for (size_t i = 0; i < l->n && bad == NULL; i++)
        bad = add_line(f, l->items[i]);
    return bad;
}

static const char *add_ours(struct filling *f, const struct http_one *o,
                            const struct http_request *q)
{
    const char *bad = add_line(f, "Accept: application/json, */*");
    char trace[256];

    if (bad == NULL && q->body != NULL)
        bad = add_line(f, "Content-Type: application/json");
    if (bad == NULL && q == &o->tool->submit)
        bad = add_line(f, "Idempotency-Key: {taskId}");
    if (bad == NULL && o->job->trace[0] != '\0') {
        (void)snprintf(trace, sizeof(trace), "traceparent: %s", o->job->trace);
        bad = add_line(f, trace);
    }
    return bad;
}

static const char *fill(struct filling *f, const struct http_one *o, const struct http_request *q)
{
    const char *bad;

    f->facts = (struct template_facts){.arguments = o->job->arguments,
                                       .task = o->job->id,
                                       .principal = o->job->principal,
                                       .callback_url = f->url,
                                       .callback_secret = f->secret};
    if (o->handle.n > 0)
        f->facts.job = buf_span(&o->handle);
    if (q == &o->tool->submit)
        add_callback(f, o);
    bad = template_fill(&f->text, q->url, TEMPLATE_URL, &f->facts);
    if (bad == NULL && q->body != NULL)
        bad = template_fill_json(&f->body, span_of(q->body), &f->facts);
    if (bad == NULL)
        bad = add_lines(f, &q->headers);
    if (bad == NULL)
        bad = add_lines(f, &o->tool->headers);
    return bad != NULL ? bad : add_ours(f, o, q);
}

static void filling_free(struct filling *f)
{
    for (size_t i = 0; i < f->n; i++) {
        seal_wipe(f->lines[i], strlen(f->lines[i]));
        free(f->lines[i]);
    }
    buf_wipe(&f->text);
    buf_wipe(&f->body);
    seal_wipe(f, sizeof(*f));
    free(f);
}

bool http_ask(struct http_one *o, const struct http_request *q, fetch_done_fn *fn, const char **bad)
{
    struct filling *f = mem_zalloc(sizeof(*f));
    const struct tool_http *t = o->tool;

    buf_init(&f->text, LINE_MAX_BYTES);
    buf_init(&f->body, BODY_MAX);
    *bad = fill(f, o, q);
    if (*bad == NULL) {
        const struct fetch_request r = {.method = q->method,
                                        .url = f->text.p,
                                        .headers = (const char *const *)f->lines,
                                        .header_count = f->n,
                                        .body = q->body != NULL ? buf_span(&f->body)
                                                                : (struct span){NULL, 0},
                                        .connect_ms = t->connect_ms,
                                        .timeout_ms = t->timeout_ms,
                                        .body_max = q == &t->result ? RESULT_MAX : ANSWER_MAX,
                                        .redirects = t->follow ? REDIRECTS : 0,
                                        .ca_file = t->ca_file,
                                        .on_done = fn,
                                        .arg = o};

        o->fetch = fetch_start(o->all->fetcher, &r);
    }
    filling_free(f);
    return *bad == NULL;
}

/* --- what comes --- */

enum http_worth http_worth(const struct fetch_answer *a)
{
    if (!a->came)
        return a->too_large ? HTTP_REFUSED : HTTP_PASSING;
    if (a->status >= 200 && a->status <= 299)
        return HTTP_GOOD;
    if (a->status == 408 || a->status == 425 || a->status == 429 || a->status >= 500)
        return HTTP_PASSING;
    return HTTP_REFUSED;
}

void http_hide_secrets(struct buf *text, const struct tool_http *tool)
{
    for (size_t i = 0; i < tool->secrets.n; i++) {
        const char *secret = getenv(tool->secrets.items[i]);

        if (secret != NULL)
            text_hide(text, secret);
    }
}

/* A secret that the cut would go through is hidden first. */
void http_add_said(struct buf *out, struct span said, size_t max, const struct tool_http *tool)
{
    struct buf text;

    buf_init(&text, SAID_ROOM);
    buf_add_span(&text, result_cut(said, max + SECRET_MAX));
    http_hide_secrets(&text, tool);
    buf_add_span(out, result_cut(buf_span(&text), max));
    buf_wipe(&text);
}

void http_describe(struct buf *out, const struct http_one *o, const char *step,
                   const struct fetch_answer *a)
{
    struct span said = a->body;

    if (!a->came) {
        buf_addf(out, "%s: %s", step, a->why);
    } else {
        buf_addf(out, "%s: HTTP %u", step, a->status);
        if (a->status >= 300 && a->status <= 399)
            buf_adds(out, ", a redirect that is not followed");
        if (said.n > 0 && memchr(said.p, '\0', said.n) == NULL) {
            buf_adds(out, ": ");
            http_add_said(out, said, SAID_MAX, o->tool);
        }
    }
    http_hide_secrets(out, o->tool);
}

/* --- when --- */

void http_in(struct http_one *o, uint64_t ms)
{
    struct timeval in = clock_timeval(ms);

    (void)event_add(o->timer, &in);
}

void http_again(struct http_one *o, const struct fetch *f, uint64_t base_ms)
{
    uint64_t most = base_ms > AGAIN_MAX_MS ? base_ms : AGAIN_MAX_MS;
    uint64_t asked = fetch_retry_ms(f);
    uint64_t ms = base_ms;

    for (unsigned i = 1; i < o->tries && ms < most; i++)
        ms *= 2;
    ms = clock_jitter(ms < most ? ms : most, 20);
    if (asked != UINT64_MAX && asked > ms)
        ms = asked < RETRY_AFTER_MAX_MS ? asked : RETRY_AFTER_MAX_MS;
    http_in(o, ms);
}
