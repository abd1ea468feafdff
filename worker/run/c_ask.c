#include "worker/run/c_job.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_MAX = 4096 };

void c_question_free(struct c_question *q)
{
    list_del(&q->node);
    free(q->method);
    buf_fini(&q->params);
    free(q);
}

static void drop_questions(struct errand_job *job)
{
    LIST_EACH(&job->questions, it)
    c_question_free(LIST_OF(it, struct c_question, node));
}

static void forget_answers(struct errand_job *job)
{
    for (size_t i = 0; i < job->answer_count; i++)
        free(job->answers[i].text);
    free(job->answers);
    job->answers = NULL;
    job->answer_count = 0;
}

static void forget_told(struct errand_job *job)
{
    for (size_t i = 0; i < job->told_count; i++)
        free(job->told[i]);
    free(job->told);
    job->told = NULL;
    job->told_count = 0;
}

void c_ask_fini(struct errand_job *job)
{
    drop_questions(job);
    forget_answers(job);
    forget_told(job);
}

void c_answer(struct errand_job *job, struct span id, struct span answer)
{
    for (size_t i = 0; i < job->open_count; i++)
        if (span_is(id, job->answers[i].id) && job->answers[i].text == NULL)
            job->answers[i].text = mem_dup(answer.p, answer.n);
}

static bool are_answered(const struct errand_job *job)
{
    for (size_t i = 0; i < job->open_count; i++)
        if (job->answers[i].text == NULL)
            return false;
    return true;
}

/* Hands the questions to the loop and waits; job->answers then holds what was answered. */
static void put(struct errand_job *job, struct list *questions, size_t count)
{
    size_t n = 0;

    forget_answers(job);
    job->answers = mem_zalloc((count + 1) * sizeof(*job->answers));
    LIST_EACH(questions, it)
    memcpy(job->answers[n++].id, LIST_OF(it, struct c_question, node)->id, C_ID_ROOM);
    job->answer_count = n;
    c_lock(job->all);
    job->open_count = n;
    list_splice(&job->questions, questions);
    if (n > 0 && !errand_cancelled(job))
        c_tell(job);
    c_wait(job, UINT64_MAX, are_answered);
    job->open_count = 0;
    drop_questions(job);
    c_unlock(job->all);
}

/* A question by its name, or by a number. params is the question's from now on. */
static struct c_question *question_new(struct errand_job *job, const char *name, const char *method,
                                       const struct buf *params)
{
    struct c_question *q = mem_zalloc(sizeof(*q));

    list_init(&q->node);
    q->method = mem_strdup(method);
    q->params = *params;
    if (name != NULL)
        (void)snprintf(q->id, sizeof(q->id), "\"%s\"", name);
    else
        (void)snprintf(q->id, sizeof(q->id), "%u", ++job->asked);
    return q;
}

/* --- what the handler is told --- */

static enum errand_said say(struct errand_job *job, enum errand_said said, struct span text,
                            const char **answer)
{
    char *copy = text.p != NULL ? mem_dup(text.p, text.n) : mem_strdup("{}");

    job->told = mem_grow(job->told, (job->told_count + 1) * sizeof(*job->told));
    job->told[job->told_count++] = copy;
    if (answer != NULL)
        *answer = copy;
    return said;
}

static enum errand_said fail(struct errand_job *job, const char *why, const char **answer)
{
    struct buf error;
    enum errand_said said;

    buf_init(&error, WHY_MAX);
    result_rpc_error(&error, err_rpc(ERR_INVALID_PARAMS), span_of(why));
    said = say(job, ERRAND_FAILED, buf_span(&error), answer);
    buf_fini(&error);
    return said;
}

/* What the job is told of {"result":...} or {"error":...}. */
static enum errand_said told(struct errand_job *job, struct span whole, const char **answer)
{
    const struct span none = {NULL, 0};
    struct span error = json_get(whole, "error");
    struct span result = json_get(whole, "result");
    struct span action = json_get(result, "action");

    if (error.p != NULL)
        return say(job, ERRAND_FAILED, error, answer);
    if (json_is(action, "decline"))
        return say(job, ERRAND_DECLINED, none, answer);
    if (json_is(action, "cancel"))
        return say(job, ERRAND_DISMISSED, none, answer);
    if (json_is(action, "accept"))
        return say(job, ERRAND_ACCEPTED, json_get(result, "content"), answer);
    return say(job, ERRAND_ACCEPTED, result, answer);
}

/* What became of the question of that id. */
static enum errand_said outcome(struct errand_job *job, const char *id, const char **answer)
{
    for (size_t i = 0; i < job->answer_count; i++)
        if (strcmp(job->answers[i].id, id) == 0 && job->answers[i].text != NULL)
            return told(job, span_of(job->answers[i].text), answer);
    return say(job, ERRAND_STOPPED, (struct span){NULL, 0}, answer);
}

enum errand_said c_refuse(struct errand_job *job, const char *why, const char **answer)
{
    forget_told(job);
    return fail(job, why, answer);
}

enum errand_said c_ask(struct errand_job *job, const char *method, struct buf *params,
                       const char **answer)
{
    struct c_question *q;
    struct list one;
    char id[C_ID_ROOM];

    forget_told(job);
    if (!buf_ok(params)) {
        buf_fini(params);
        return fail(job, "the question is larger than 1 MiB", answer);
    }
    q = question_new(job, NULL, method, params);
    memcpy(id, q->id, sizeof(id));
    list_init(&one);
    list_add_tail(&one, &q->node);
    put(job, &one, 1);
    return outcome(job, id, answer);
}

/* --- several at once --- */

static bool is_name(const char *name)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(name);

    return n >= 1 && n <= C_ID_ROOM - 4 && strspn(name, safe) == n;
}

static const char *fault_of(const struct errand_question *all, size_t i)
{
    if (all[i].params != NULL && json_check(span_of(all[i].params), NULL, NULL) != ERR_OK)
        return "the params are no JSON";
    if (all[i].name == NULL)
        return NULL;
    if (!is_name(all[i].name))
        return "the name of a question must be 1 to 20 of A-Z a-z 0-9 _ -";
    for (size_t other = 0; other < i; other++)
        if (all[other].name != NULL && strcmp(all[other].name, all[i].name) == 0)
            return "another question that is asked together with this one has its name";
    return NULL;
}

/* Its id, or an empty text when it is refused. */
static void prepare(struct errand_job *job, struct list *questions, struct errand_question *all,
                    size_t i, char id[static C_ID_ROOM])
{
    const char *fault = fault_of(all, i);
    struct c_question *q;
    struct buf params;

    buf_init(&params, C_PARAMS_MAX);
    if (fault == NULL)
        result_compact(&params, span_of(all[i].params != NULL ? all[i].params : "{}"));
    if (fault == NULL && !buf_ok(&params))
        fault = "the question is larger than 1 MiB";
    if (fault != NULL) {
        buf_fini(&params);
        all[i].said = fail(job, fault, &all[i].answer);
        return;
    }
    q = question_new(job, all[i].name, all[i].method, &params);
    memcpy(id, q->id, C_ID_ROOM);
    list_add_tail(questions, &q->node);
}

void errand_ask_all(struct errand_job *job, struct errand_question *questions, size_t count)
{
    char(*ids)[C_ID_ROOM] = mem_zalloc((count + 1) * sizeof(*ids));
    struct list ready;

    forget_told(job);
    list_init(&ready);
    for (size_t i = 0; i < count; i++)
        prepare(job, &ready, questions, i, ids[i]);
    put(job, &ready, count);
    for (size_t i = 0; i < count; i++)
        if (ids[i][0] != '\0')
            questions[i].said = outcome(job, ids[i], &questions[i].answer);
    free(ids);
}
