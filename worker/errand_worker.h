/* errand_worker.h - serve functions of your own program as durable MCP tools.
 *
 * Declare the tools, hand them to errand_worker_main(), link liberrandworker (what
 * `pkg-config --cflags --libs errandworker` says, where errand is installed):
 *
 *     static void on_echo(struct errand_job *job, void *arg)
 *     {
 *         const char *text = errand_argument_text(job, "text");
 *
 *         (void)arg;
 *         if (text == NULL)
 *             errand_error(job, "\"text\" is missing");
 *         else
 *             errand_result_text(job, text);
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const struct errand_tool tools[] = {
 *             {"{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}", on_echo, NULL}};
 *
 *         return errand_worker_main(argc, argv, tools, 1);
 *     }
 *
 * The program then takes the options of errand-worker but --tools. A job may run more than once:
 * a worker that dies loses its lease and another one starts the job again. errand_task_id() stays
 * the same over all attempts of one task; use it to make what must happen once happen once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errand_job;

/* Runs one job, on one of --slots threads, several at once. It ends by returning; what it said
 * with errand_result_*() or errand_error() last is the outcome. A handler must look at
 * errand_cancelled() now and then, or wait with errand_wait(): one that does not keeps its slot
 * until it returns, and its result is dropped. The job is valid until the handler returns. */
typedef void errand_handler(struct errand_job *job, void *arg);

struct errand_tool {
    /* JSON, as an entry of tools.json (docs/tools.md) without "run" and "env": name, title,
     * description, inputSchema, outputSchema, taskSupport, timeout, ttl, attempts, ... */
    const char *declaration;
    errand_handler *handler;
    void *arg;
};

/* Serves until SIGTERM or SIGINT, then drains; returns the exit code of the program: 0 clean, 1
 * failure at run time, 2 bad usage or declaration (one line on standard error). Call it once, from
 * the main thread, before any other thread is started. */
int errand_worker_main(int argc, char **argv, const struct errand_tool *tools, size_t count);

/* --- what the job is: valid as long as the job --- */

/* The arguments as the client sent them: a JSON object that fits the tool's schema, n bytes and a
 * NUL. */
const char *errand_arguments(const struct errand_job *job, size_t *n);
const char *errand_task_id(const struct errand_job *job);
unsigned errand_attempt(const struct errand_job *job); /* from 1 */
const char *errand_principal(const struct errand_job *job); /* a name, or "anonymous" */
const char *errand_traceparent(const struct errand_job *job); /* W3C trace context, or "" */

/* One argument by name. Text: decoded, the job's, with a NUL after it; NULL when it is not there,
 * is no string, or holds U+0000. */
const char *errand_argument_text(struct errand_job *job, const char *name);
bool errand_argument_int(const struct errand_job *job, const char *name, int64_t *out);
bool errand_argument_number(const struct errand_job *job, const char *name, double *out);
bool errand_argument_bool(const struct errand_job *job, const char *name, bool *out);

/* --- while it runs --- */

/* Is it to stop: cancelled by the client, out of time, or handed back by a draining worker? */
bool errand_cancelled(const struct errand_job *job);
/* Waits for that, at most ms milliseconds; the same answer. */
bool errand_wait(struct errand_job *job, uint64_t ms);
/* Shown to the client. total 0: not known; message NULL: none. May be called as often as one
 * likes: what comes too fast is folded into the newest. */
void errand_progress(struct errand_job *job, double progress, double total, const char *message);

/* A line for the client's log, at one of MCP's levels: debug, info, notice, warning, error,
 * critical, alert, emergency. Of more than 50 a second the rest is dropped, and one line says how
 * many. */
void errand_log(struct errand_job *job, const char *level, const char *text);

/* --- questions to the client: they block until there is an answer, or the job is to stop. While
 *     all its jobs wait for answers the worker takes up others, on further threads --- */

enum errand_said {
    ERRAND_ACCEPTED,
    ERRAND_DECLINED, /* the person said no */
    ERRAND_DISMISSED, /* the person said nothing: the question was closed */
    ERRAND_FAILED, /* this client cannot be asked, nobody answered in time, ... */
    ERRAND_STOPPED, /* the job is to stop: errand_cancelled() */
};
/* *answer (answer may be NULL) is JSON text, valid until the next question or the end of the job:
 * what was ACCEPTED, or why it FAILED, as a JSON-RPC error object; "{}" otherwise. A job that runs
 * again and asks the same in the same order is given the answers that it had.
 *
 * A form: schema is the requestedSchema of elicitation/create, a flat object schema. Accepted is
 * what was filled in, which fits it. Never ask for secrets in a form. */
enum errand_said errand_ask(struct errand_job *job, const char *message, const char *schema,
                            const char **answer);
/* An address to open, for what must not pass through the client. Accepted is consent, not more. */
enum errand_said errand_ask_url(struct errand_job *job, const char *message, const char *url,
                                const char **answer);
/* The client's model: a prompt, or all params of sampling/createMessage as JSON. Accepted is the
 * whole result: role, content, model. */
enum errand_said errand_sample(struct errand_job *job, const char *prompt, unsigned max_tokens,
                               const char **answer);
enum errand_said errand_sample_raw(struct errand_job *job, const char *params, const char **answer);
/* The folders that the client works in: {"roots":[...]}. */
enum errand_said errand_roots(struct errand_job *job, const char **answer);

/* Several questions at once, each of which may be answered before the others; returns when all
 * are. */
struct errand_question {
    const char *name; /* what a client of the stateless dialect knows it by: 1 to 20 of A-Z a-z 0-9
                         _ -; NULL: one is made of what is asked */
    const char *method; /* elicitation/create, sampling/createMessage or roots/list */
    const char *params; /* of that method, as JSON; NULL: {} */
    enum errand_said said; /* what became of it, as above */
    const char *answer;
};
void errand_ask_all(struct errand_job *job, struct errand_question *questions, size_t count);

/* --- its outcome: copied; the last one counts --- */

void errand_result_text(struct errand_job *job, const char *text);
void errand_result_bytes(struct errand_job *job, const char *text, size_t n); /* the same */
/* json: one object, shown as structuredContent and as text, byte for byte. */
void errand_result_json(struct errand_job *job, const char *json, size_t n);
/* json: a whole CallToolResult, for images, links and several blocks. */
void errand_result_raw(struct errand_job *job, const char *json, size_t n);
/* The tool has failed: a result with isError that holds the message. */
void errand_error(struct errand_job *job, const char *message);
/* The call itself was wrong, or cannot be carried out: there is no result, the client is answered
 * with a JSON-RPC error. data: any JSON, or NULL. A model mostly does not see these: what it should
 * act on is for errand_error(). */
void errand_rpc_error(struct errand_job *job, int code, const char *message, const char *data);
/* It has failed in passing (an upstream is away): run it again later, as the tool's attempts and
 * backoff say. */
void errand_retry(struct errand_job *job, const char *message);

#ifdef __cplusplus
}
#endif
