#include "worker/slot_inside.h"

#include <stddef.h>

/* --- waiting for people --- */

void slot_waits(struct slot *s, bool is_waiting)
{
    if (s->is_waiting == is_waiting)
        return;
    s->is_waiting = is_waiting;
    s->all->waiting += is_waiting ? 1U : -1U;
    if (is_waiting)
        s->all->conf.on_free(s->all->conf.arg);
}

void slot_hush(struct slot *s)
{
    slot_waits(s, false);
    if (s->all->conf.on_hushed != NULL)
        s->all->conf.on_hushed(s->all->conf.arg, s);
}

void slot_answer(struct slot *s, struct span id, struct span answer)
{
    struct runner *r = s->all->runners[s->job.tool->run];

    if (s->run.state == SLOT_RUNNING)
        r->answered(r, &s->job, id, answer);
}

/* --- what runners say --- */

static struct slot *talking(struct run_job *job)
{
    struct slot *s = (struct slot *)(void *)((char *)job - offsetof(struct slot, job));

    return s->hold.state == SLOT_HELD && s->fate == SLOT_COUNTS ? s : NULL;
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    struct slot *s = talking(job);

    if (s != NULL && s->all->conf.on_said != NULL)
        s->all->conf.on_said(s->all->conf.arg, s, message, progress);
}

static void on_logged(struct run_job *job, struct span level, struct span logger, struct span data)
{
    struct slot *s = talking(job);

    if (s != NULL && s->all->conf.on_logged != NULL)
        s->all->conf.on_logged(s->all->conf.arg, s, level, logger, data);
}

static void on_asked(struct run_job *job, struct span id, struct span method, struct span params)
{
    struct slot *s = talking(job);

    if (s != NULL && s->all->conf.on_asked != NULL)
        s->all->conf.on_asked(s->all->conf.arg, s, id, method, params);
}

static void on_withdrew(struct run_job *job, struct span id)
{
    struct slot *s = talking(job);

    if (s != NULL && s->all->conf.on_withdrew != NULL)
        s->all->conf.on_withdrew(s->all->conf.arg, s, id);
}

/* --- work elsewhere --- */

void slot_drop(struct slot *s, enum run_stop why)
{
    s->dropped = why;
    if (s->hold.state == SLOT_HELD)
        slot_stop(s, SLOT_DROPPED, s->job.tool->grace_ms);
}

/* Who is handed back goes on elsewhere; so does one whose end Redis has not taken. */
enum run_stop slot_why_stopped(const struct slot *s)
{
    if (s->fate == SLOT_DROPPED)
        return s->dropped;
    return s->fate == SLOT_TIMED_OUT ? RUN_UNWANTED : RUN_PASSED_ON;
}

/* A job that is handed back is still ours: what it has begun must be found again. */
static void on_keep(struct run_job *job, struct span handle)
{
    struct slot *s = (struct slot *)(void *)((char *)job - offsetof(struct slot, job));

    if (s->all->conf.on_keep == NULL)
        slot_kept(s);
    else if (s->hold.state == SLOT_HELD)
        s->all->conf.on_keep(s->all->conf.arg, s, handle);
}

static void on_listen(struct run_job *job)
{
    struct slot *s = talking(job);

    if (s != NULL && s->all->conf.on_listen != NULL)
        s->all->conf.on_listen(s->all->conf.arg, s);
}

void slot_kept(struct slot *s)
{
    struct runner *r = s->all->runners[s->job.tool->run];

    if (s->run.state != SLOT_STILL)
        r->kept(r, &s->job);
}

bool slot_called(struct slot *s, struct span body)
{
    struct runner *r = s->all->runners[s->job.tool->run];

    return s->run.state != SLOT_RUNNING || r->called(r, &s->job, body);
}

const struct run_sink slots_sink = {.ended = slot_on_ended,
                                    .said = on_said,
                                    .logged = on_logged,
                                    .asked = on_asked,
                                    .withdrew = on_withdrew,
                                    .keep = on_keep,
                                    .listen = on_listen};
