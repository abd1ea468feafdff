/* http_inside.h - a job elsewhere, shared by the http_*.c of this folder only. */
#pragma once

#include "common/buf.h"
#include "common/fetch.h"
#include "common/list.h"
#include "common/sm.h"
#include "worker/run/http.h"
#include "worker/tool_http.h"

enum http_step {
    HTTP_SUBMITTING,
    HTTP_KEEPING,
    HTTP_POLLING,
    HTTP_FETCHING,
    HTTP_CANCELLING,
    HTTP_LEAVING, /* is told as ended on the next turn; it goes on elsewhere, unless cancelled */
    HTTP_ENDING, /* is told as ended on the next turn */
};

struct http_runner {
    struct runner runner;
    struct event_base *base;
    struct fetcher *fetcher;
    struct http_conf conf;
    struct list running;
};

struct http_one {
    struct list node;
    struct http_runner *all;
    struct run_job *job;
    const struct tool_http *tool;
    struct sm sm;
    struct fetch *fetch; /* under way, or NULL */
    struct event *timer; /* the next request of this step */
    struct event *limit; /* the end of the grace */
    uint64_t limit_ms; /* when that is, by the monotonic clock */
    bool is_stopping;
    struct buf handle; /* raw JSON */
    unsigned tries; /* requests of this step in a row that failed */
    unsigned refused; /* polls in a row that were */
    unsigned odd; /* answers in a row with an unknown state */
    uint64_t every_ms;
    char *verdict; /* the error to end with once it is cancelled, or NULL */
};

/* What an answer is worth. */
enum http_worth { HTTP_GOOD, HTTP_PASSING, HTTP_REFUSED };

/* http_ask.c. False: it cannot be sent; *bad then says why. */
bool http_ask(struct http_one *o, const struct http_request *q, fetch_done_fn *fn,
              const char **bad);
enum http_worth http_worth(const struct fetch_answer *a);
/* "poll: HTTP 503: what it said", without secrets. */
void http_describe(struct buf *out, const struct http_one *o, const char *step,
                   const struct fetch_answer *a);
void http_hide_secrets(struct buf *text, const struct tool_http *tool);
/* The beginning of what it said, without secrets. */
void http_add_said(struct buf *out, struct span said, size_t max, const struct tool_http *tool);
/* In so many ms, or later when the answer asks for it. */
void http_again(struct http_one *o, const struct fetch *f, uint64_t base_ms);
void http_in(struct http_one *o, uint64_t ms);

/* http_end.c */
void http_forget(struct http_one *o); /* frees it */
/* o is gone after each of these. */
void http_end_error(struct http_one *o, struct span text);
void http_end_passing(struct http_one *o, struct span why);
void http_end_stopped(struct http_one *o);
/* The result from this; false: it is none, why says what is wrong, and o goes on. */
bool http_end_result(struct http_one *o, struct span bytes, struct buf *why);

/* http_step.c: one request each; http_cancel also ends with an error later when o->verdict is set.
 */
void http_submit(struct http_one *o);
void http_poll(struct http_one *o);
void http_fetch_result(struct http_one *o);
void http_cancel(struct http_one *o);
/* What a poll or a callback says; true: it has decided, and o may be gone. */
bool http_look(struct http_one *o, struct span json, struct buf *why);
/* Cancels it if it can be, and ends. Not from inside stop(). */
void http_give_up(struct http_one *o, struct span text);
