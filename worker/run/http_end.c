#include "worker/run/http_inside.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/pointer.h"
#include "worker/result.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

void http_forget(struct http_one *o)
{
    if (o->fetch != NULL)
        fetch_cancel(o->fetch);
    event_free(o->timer);
    event_free(o->limit);
    list_del(&o->node);
    buf_fini(&o->handle);
    free(o->verdict);
    free(o);
}

static void end(struct http_one *o, const struct run_end *how)
{
    struct run_job *job = o->job;
    const struct run_sink *sink = o->all->runner.sink;

    http_forget(o);
    sink->ended(job, how);
}

static void end_with(struct http_one *o, struct buf *result, bool is_error)
{
    struct run_end how = {.is_error = is_error};

    if (!buf_ok(result)) {
        buf_reset(result);
        result_text(result, SPAN("the result is larger than 16 MiB as JSON"), true);
        how.is_error = true;
    }
    how.n = result->n;
    how.result = buf_take(result);
    end(o, &how);
}

void http_end_error(struct http_one *o, struct span text)
{
    struct buf result;

    buf_init(&result, RESULT_MAX);
    result_text(&result, text, true);
    end_with(o, &result, true);
}

void http_end_passing(struct http_one *o, struct span why)
{
    char *text = mem_dup(why.p, why.n);

    end(o, &(struct run_end){.passing = true, .why = text});
    free(text);
}

/* What is said after a stop counts for nothing. */
void http_end_stopped(struct http_one *o)
{
    if (o->verdict != NULL) {
        char *text = mem_strdup(o->verdict);

        http_end_error(o, span_of(text));
        free(text);
        return;
    }
    end(o, &(struct run_end){.passing = true, .why = "it was stopped"});
}

/* --- results --- */

static struct span trimmed(struct span s)
{
    while (s.n > 0 && strchr(" \t\r\n", s.p[s.n - 1]) != NULL)
        s.n--;
    while (s.n > 0 && strchr(" \t\r\n", s.p[0]) != NULL)
        s = (struct span){s.p + 1, s.n - 1};
    return s;
}

/* The part of it that the tool's "at" points at, all without one. */
static bool take_part(const struct http_one *o, struct span *bytes, const char **why)
{
    if (o->tool->at == NULL)
        return true;
    if (json_check_limits(*bytes, JSON_DEPTH_MAX, 0, why, NULL) != ERR_OK)
        return false;
    *why = "it has nothing where \"at\" points to";
    *bytes = pointer_at(trimmed(*bytes), o->tool->at);
    return bytes->p != NULL;
}

static void add_text(struct buf *out, const struct http_one *o, struct span bytes)
{
    char *text = o->tool->at != NULL ? tool_text(bytes) : NULL;

    result_text(out, text != NULL ? span_of(text) : bytes, false);
    free(text);
}

static bool make(struct buf *out, const struct http_one *o, struct span bytes, bool *is_error,
                 const char **why)
{
    if (!take_part(o, &bytes, why))
        return false;
    switch (o->job->tool->output) {
    case TOOL_TEXT:
        add_text(out, o, bytes);
        return true;
    case TOOL_JSON:
        if (!result_is_object(bytes, why))
            return false;
        result_structured(out, trimmed(bytes));
        return true;
    case TOOL_RESULT:
        if (!result_check(bytes, is_error, why))
            return false;
        buf_add_span(out, trimmed(bytes));
        return true;
    }
    return false;
}

bool http_end_result(struct http_one *o, struct span bytes, struct buf *why)
{
    const char *what = "";
    bool is_error = false;
    struct buf result;

    buf_init(&result, RESULT_MAX);
    if (!make(&result, o, bytes, &is_error, &what)) {
        buf_addf(why, "the result is not what its tool promises: %s", what);
        buf_fini(&result);
        return false;
    }
    end_with(o, &result, is_error);
    return true;
}
