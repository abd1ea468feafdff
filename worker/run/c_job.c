#include "worker/run/c_job.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = RESULT_MESSAGE_MAX + 1, PROGRESS_MAX = 8 * RESULT_MESSAGE_MAX };

void c_job_init(struct errand_job *job)
{
    list_init(&job->node);
    list_init(&job->said_node);
    buf_init(&job->result, RESULT_MAX);
    buf_init(&job->progress, PROGRESS_MAX);
    buf_init(&job->message, MESSAGE_MAX);
    list_init(&job->logs);
    list_init(&job->questions);
}

void c_log_free(struct c_log *line)
{
    list_del(&line->node);
    free(line->data);
    free(line);
}

void c_job_fini(struct errand_job *job)
{
    buf_fini(&job->result);
    buf_fini(&job->progress);
    buf_fini(&job->message);
    LIST_EACH(&job->logs, it)
    c_log_free(LIST_OF(it, struct c_log, node));
    c_ask_fini(job);
    for (size_t i = 0; i < job->text_count; i++)
        free(job->texts[i]);
    free(job->texts);
}

/* --- what it is --- */

const char *errand_arguments(const struct errand_job *job, size_t *n)
{
    if (n != NULL)
        *n = job->run->arguments.n;
    return job->run->arguments.p;
}

const char *errand_task_id(const struct errand_job *job)
{
    return job->run->id;
}

unsigned errand_attempt(const struct errand_job *job)
{
    return job->run->attempt;
}

const char *errand_principal(const struct errand_job *job)
{
    return job->run->principal;
}

const char *errand_traceparent(const struct errand_job *job)
{
    return job->run->trace;
}

static struct span argument(const struct errand_job *job, const char *name)
{
    return json_get(job->run->arguments, name);
}

const char *errand_argument_text(struct errand_job *job, const char *name)
{
    char *text = tool_text(argument(job, name));

    if (text == NULL)
        return NULL;
    job->texts = mem_grow(job->texts, (job->text_count + 1) * sizeof(*job->texts));
    job->texts[job->text_count++] = text;
    return text;
}

bool errand_argument_int(const struct errand_job *job, const char *name, int64_t *out)
{
    return json_int(argument(job, name), out);
}

bool errand_argument_number(const struct errand_job *job, const char *name, double *out)
{
    return json_number(argument(job, name), out);
}

bool errand_argument_bool(const struct errand_job *job, const char *name, bool *out)
{
    return json_bool(argument(job, name), out);
}

/* --- while it runs --- */

bool errand_cancelled(const struct errand_job *job)
{
    return atomic_load(&job->cancelled);
}

void c_wait(struct errand_job *job, uint64_t ms, bool (*is_there)(const struct errand_job *job))
{
    pthread_condattr_t monotonic;
    pthread_cond_t cond;
    uint64_t now = clock_mono_ms();
    uint64_t end = ms > UINT64_MAX - now ? UINT64_MAX : now + ms;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&cond, &monotonic);
    job->sleeper = &cond;
    while (!errand_cancelled(job) && !is_there(job) && now < end) {
        c_sleep(job->all, &cond, end - now);
        now = clock_mono_ms();
    }
    job->sleeper = NULL;
    (void)pthread_cond_destroy(&cond);
    (void)pthread_condattr_destroy(&monotonic);
}

static bool is_never(const struct errand_job *job)
{
    (void)job;
    return false;
}

bool errand_wait(struct errand_job *job, uint64_t ms)
{
    c_lock(job->all);
    c_wait(job, ms, is_never);
    c_unlock(job->all);
    return errand_cancelled(job);
}

static void add_number(struct buf *out, const char *name, double v)
{
    buf_addf(out, "\"%s\":%.15g", name, isfinite(v) ? v : 0.0);
}

void errand_progress(struct errand_job *job, double progress, double total, const char *message)
{
    struct span said = result_cut(span_of(message), RESULT_MESSAGE_MAX);

    c_lock(job->all);
    buf_reset(&job->progress);
    buf_addc(&job->progress, '{');
    add_number(&job->progress, "progress", progress);
    if (total > 0) {
        buf_addc(&job->progress, ',');
        add_number(&job->progress, "total", total);
    }
    if (message != NULL) {
        buf_adds(&job->progress, ",\"message\":");
        buf_add_json(&job->progress, said);
        buf_reset(&job->message);
        buf_add_span(&job->message, said);
    }
    buf_addc(&job->progress, '}');
    c_tell(job);
    c_unlock(job->all);
}

/* --- its outcome --- */

static void begin_outcome(struct errand_job *job, bool is_error)
{
    buf_reset(&job->result);
    job->has_outcome = true;
    job->passing = false;
    job->is_error = is_error;
    job->rpc_error = false;
}

static void check_size(struct errand_job *job)
{
    if (buf_ok(&job->result))
        return;
    begin_outcome(job, true);
    result_text(&job->result, SPAN("the result is larger than 16 MiB as JSON"), true);
}

void errand_result_bytes(struct errand_job *job, const char *text, size_t n)
{
    begin_outcome(job, false);
    result_text(&job->result, (struct span){text, n}, false);
    check_size(job);
}

void errand_result_text(struct errand_job *job, const char *text)
{
    errand_result_bytes(job, text, strlen(text));
}

static void bad_outcome(struct errand_job *job, const char *why)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_addf(&text, "the handler's result is not what it should be: %s", why);
    begin_outcome(job, true);
    result_text(&job->result, buf_span(&text), true);
    buf_fini(&text);
}

void errand_result_json(struct errand_job *job, const char *json, size_t n)
{
    const char *why;

    if (!result_is_object((struct span){json, n}, &why)) {
        bad_outcome(job, why);
        return;
    }
    begin_outcome(job, false);
    result_structured(&job->result, (struct span){json, n});
    check_size(job);
}

void errand_result_raw(struct errand_job *job, const char *json, size_t n)
{
    const char *why;
    bool is_error;

    if (!result_check((struct span){json, n}, &is_error, &why)) {
        bad_outcome(job, why);
        return;
    }
    begin_outcome(job, is_error);
    buf_add(&job->result, json, n);
    check_size(job);
}

void errand_error(struct errand_job *job, const char *message)
{
    begin_outcome(job, true);
    result_text(&job->result, span_of(message), true);
    check_size(job);
}

void errand_rpc_error(struct errand_job *job, int code, const char *message, const char *data)
{
    const char *why;

    if (data != NULL && json_check_limits(span_of(data), JSON_DEPTH_MAX, 0, &why, NULL) != ERR_OK) {
        bad_outcome(job, why);
        return;
    }
    begin_outcome(job, false);
    job->rpc_error = true;
    buf_addf(&job->result, "{\"code\":%d,\"message\":", code);
    buf_add_json(&job->result, span_of(message));
    if (data != NULL) {
        buf_adds(&job->result, ",\"data\":");
        buf_adds(&job->result, data);
    }
    buf_addc(&job->result, '}');
    check_size(job);
}

void errand_retry(struct errand_job *job, const char *message)
{
    begin_outcome(job, false);
    buf_add_span(&job->result, result_cut(span_of(message), RESULT_MESSAGE_MAX));
    job->passing = true;
}
