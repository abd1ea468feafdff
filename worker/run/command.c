#include "worker/run/command.h"

#include "common/buf.h"
#include "common/list.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/run/argv.h"
#include "worker/run/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = RESULT_MAX, WHY_MAX = 64 << 10 };

struct command {
    struct runner runner;
    struct children *set;
    struct list running;
};

struct one {
    struct list node;
    struct command *all;
    struct run_job *job;
    struct child *child;
    struct talk *talk;
};

static void end_result(const struct command *all, struct run_job *job, struct buf *result,
                       bool is_error)
{
    struct run_end end = {.is_error = is_error};

    if (!buf_ok(result)) {
        buf_reset(result);
        result_text(result, SPAN("the output is larger than 16 MiB as JSON"), true);
        end.is_error = true;
    }
    end.n = result->n;
    end.result = buf_take(result);
    all->runner.sink->ended(job, &end);
}

static void end_error(const struct command *all, struct run_job *job, struct span text)
{
    struct buf result;

    buf_init(&result, RESULT_MAX);
    result_text(&result, text, true);
    end_result(all, job, &result, true);
}

static void end_passing(const struct command *all, struct run_job *job, struct span why)
{
    char *text = mem_dup(why.p, why.n);
    struct run_end end = {.passing = true, .why = text};

    all->runner.sink->ended(job, &end);
    free(text);
}

static struct span trimmed(struct span s)
{
    while (s.n > 0 && strchr(" \t\r\n", s.p[s.n - 1]) != NULL)
        s.n--;
    while (s.n > 0 && strchr(" \t\r\n", s.p[0]) != NULL)
        s = (struct span){s.p + 1, s.n - 1};
    return s;
}

/* What it complained of, or else the end of what it wrote, and how it ended. */
static void end_failed(const struct command *all, struct run_job *job, const struct child_end *end)
{
    struct span said = trimmed(end->err);
    struct buf text;

    if (said.n == 0)
        said = trimmed(end->out);
    if (said.n > CHILD_ERR_KEPT)
        said = (struct span){said.p + said.n - CHILD_ERR_KEPT, CHILD_ERR_KEPT};
    buf_init(&text, WHY_MAX);
    buf_add_span(&text, said);
    if (said.n > 0)
        buf_addc(&text, '\n');
    if (end->how == CHILD_SIGNALLED)
        buf_addf(&text, "killed by signal %d (%s)", end->value, strsignal(end->value));
    else
        buf_addf(&text, "exit status %d", end->value);
    if (end->how == CHILD_EXITED && job->tool->retry_exit)
        end_passing(all, job, buf_span(&text));
    else
        end_error(all, job, buf_span(&text));
    buf_fini(&text);
}

static void end_output(const struct command *all, struct run_job *job, struct span out)
{
    enum tool_output kind = job->tool->output;
    const char *why = "";
    bool is_error = false;
    struct buf result;
    bool ok = true;

    buf_init(&result, RESULT_MAX);
    if (kind == TOOL_TEXT) {
        result_text(&result, out, false);
    } else if (kind == TOOL_JSON) {
        ok = result_is_object(out, &why);
        if (ok)
            result_structured(&result, trimmed(out));
    } else {
        ok = result_check(out, &is_error, &why);
        if (ok)
            buf_add_span(&result, trimmed(out));
    }
    if (!ok)
        buf_addf(&result, "the output of the command is not what its tool promises: %s", why);
    if (ok)
        end_result(all, job, &result, is_error);
    else
        end_error(all, job, buf_span(&result));
    buf_fini(&result);
}

static void end_not_started(const struct command *all, struct run_job *job, int why)
{
    struct buf text;

    buf_init(&text, WHY_MAX);
    buf_addf(&text, "%s could not be started: %s", job->tool->command.items[0], strerror(why));
    if (why == E2BIG) /* it never will */
        end_error(all, job, buf_span(&text));
    else
        end_passing(all, job, buf_span(&text));
    buf_fini(&text);
}

static void on_ended(void *arg, const struct child_end *end)
{
    struct one *t = arg;
    struct run_job *job = t->job;
    const struct command *all = t->all;

    talk_hear_out(t->talk);
    list_del(&t->node);
    talk_free(t->talk);
    free(t);
    if (end->too_much)
        end_error(all, job, SPAN("the output is larger than 16 MiB; the command was stopped"));
    else if (end->how == CHILD_LOST)
        end_passing(all, job, SPAN("the keeper of the command was killed"));
    else if (end->how == CHILD_NOT_STARTED)
        end_not_started(all, job, end->value);
    else if (end->how == CHILD_EXITED && end->value == 0)
        end_output(all, job, end->out);
    else
        end_failed(all, job, end);
}

static void start(struct runner *r, struct run_job *job)
{
    struct command *all = (struct command *)(void *)r;
    const char *why;
    struct argv a;
    struct one *t;
    struct talk *talk;
    struct child_conf conf = {.cwd = job->tool->cwd,
                              .input = job->arguments,
                              .out_max = OUTPUT_MAX,
                              .grace_ms = job->tool->grace_ms};

    if (!argv_make(&a, job, &why)) {
        end_error(all, job, span_of(why));
        return;
    }
    talk = talk_open(children_base(all->set), all->runner.sink, job, &conf.talk);
    if (talk == NULL) {
        end_not_started(all, job, errno);
        argv_fini(&a);
        return;
    }
    conf.argv = (const char *const *)a.words;
    conf.envp = (const char *const *)a.env;
    t = mem_zalloc(sizeof(*t));
    t->all = all;
    t->job = job;
    t->talk = talk;
    job->own = t;
    list_add_tail(&all->running, &t->node);
    t->child = child_start(all->set, &conf, on_ended, t);
    (void)close(conf.talk);
    argv_fini(&a);
}

static void stop(struct runner *r, struct run_job *job, uint64_t grace_ms)
{
    const struct one *t = job->own;

    (void)r;
    child_stop(t->child, grace_ms);
}

static void answered(struct runner *r, struct run_job *job, struct span id, struct span answer)
{
    const struct one *t = job->own;

    (void)r;
    talk_answer(t->talk, id, answer);
}

static void command_free(struct runner *r)
{
    struct command *all = (struct command *)(void *)r;

    LIST_EACH(&all->running, it)
    {
        struct one *t = LIST_OF(it, struct one, node);

        talk_free(t->talk);
        free(t);
    }
    free(all);
}

struct runner *command_new(struct children *set, const struct run_sink *sink)
{
    struct command *all = mem_zalloc(sizeof(*all));

    all->runner = (struct runner){
        .sink = sink, .start = start, .stop = stop, .answered = answered, .free = command_free};
    all->set = set;
    list_init(&all->running);
    return &all->runner;
}
