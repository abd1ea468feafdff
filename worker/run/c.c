#include "worker/run/c.h"

#include "common/clock.h"
#include "common/mem.h"
#include "worker/result.h"
#include "worker/run/c_job.h"

#include <assert.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Happy path: start() queues a job and wakes a thread; the thread runs the handler and queues the
 * job as ended; the loop sees the eventfd, takes all that have ended and tells the sink. */
struct c_runner {
    struct runner runner;
    pthread_mutex_t lock;
    pthread_cond_t work; /* something to run, or the end */
    struct list ready;
    struct list ended;
    struct list said;
    unsigned idle; /* threads that wait for work */
    bool waking; /* one of them has been signalled and is not here yet */
    bool quit;
    int wake; /* eventfd */
    struct event *on_wake;
    size_t jobs; /* the loop's own count: started and not yet told as ended */
    unsigned threads; /* started */
    unsigned most; /* there are further ones for jobs whose handlers wait for answers */
    pthread_t *thread;
};

void c_lock(struct c_runner *all)
{
    (void)pthread_mutex_lock(&all->lock);
}

void c_unlock(struct c_runner *all)
{
    (void)pthread_mutex_unlock(&all->lock);
}

void c_sleep(struct c_runner *all, pthread_cond_t *cond, uint64_t ms)
{
    struct timespec end;
    const uint64_t longest = 24ULL * 3600 * 1000;

    ms = ms < longest ? ms : longest; /* who waits looks again */
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(ms / 1000);
    end.tv_nsec += (long)(ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(cond, &all->lock, &end);
}

static void wake_loop(const struct c_runner *all)
{
    const uint64_t one = 1;

    (void)!write(all->wake, &one, sizeof(one));
}

void c_tell(struct errand_job *job)
{
    struct c_runner *all = job->all;
    bool nothing_yet = list_empty(&all->ended) && list_empty(&all->said);

    if (list_empty(&job->said_node))
        list_add_tail(&all->said, &job->said_node);
    if (nothing_yet)
        wake_loop(all);
}

/* --- the threads --- */

/* Wakes one thread when there is work that nobody comes for; it wakes the next, and so on. Waking
 * one for each job at once would cost more than most of them do. Under the lock. */
static void wake_thread(struct c_runner *all)
{
    if (list_empty(&all->ready) || all->idle == 0 || all->waking)
        return;
    all->waking = true;
    (void)pthread_cond_signal(&all->work);
}

static void wait_for_work(struct c_runner *all)
{
    all->idle++;
    (void)pthread_cond_wait(&all->work, &all->lock);
    all->idle--;
    all->waking = false;
}

static void run(struct errand_job *job)
{
    if (errand_cancelled(job))
        return;
    job->tool->handler(job, job->tool->arg);
    if (!job->has_outcome)
        errand_error(job, "the handler gave no result");
}

static void *thread_main(void *arg)
{
    struct c_runner *all = arg;

    c_lock(all);
    for (;;) {
        struct errand_job *job;
        bool nothing_yet;

        while (list_empty(&all->ready) && !all->quit)
            wait_for_work(all);
        if (all->quit)
            break;
        job = LIST_OF(all->ready.next, struct errand_job, node);
        list_del(&job->node);
        wake_thread(all);
        c_unlock(all);
        run(job);
        c_lock(all);
        nothing_yet = list_empty(&all->ended) && list_empty(&all->said);
        list_add_tail(&all->ended, &job->node);
        if (nothing_yet)
            wake_loop(all);
    }
    c_unlock(all);
    return NULL;
}

/* Signals are the loop's: no thread takes one. */
static bool start_thread(struct c_runner *all)
{
    sigset_t every;
    sigset_t old;
    bool ok;

    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &old);
    ok = pthread_create(&all->thread[all->threads], NULL, thread_main, all) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    all->threads += ok;
    return ok;
}

/* --- the loop's side --- */

static struct span taken(struct buf *b)
{
    struct span s = b->n > 0 ? buf_span(b) : (struct span){NULL, 0};

    return s;
}

static void tell_logs(const struct c_runner *all, struct errand_job *job, struct list *logs)
{
    LIST_EACH(logs, it)
    {
        struct c_log *line = LIST_OF(it, struct c_log, node);

        all->runner.sink->logged(job->run, span_of(line->level), (struct span){NULL, 0},
                                 span_of(line->data));
        c_log_free(line);
    }
}

static void tell_questions(const struct c_runner *all, struct errand_job *job, struct list *asked)
{
    LIST_EACH(asked, it)
    {
        struct c_question *q = LIST_OF(it, struct c_question, node);

        all->runner.sink->asked(job->run, span_of(q->id), span_of(q->method), buf_span(&q->params));
        c_question_free(q);
    }
}

/* The news is moved out under the lock and told without it. */
static void tell_news(struct c_runner *all, struct errand_job *job)
{
    struct list questions;
    struct buf progress;
    struct buf message;
    struct list logs;

    list_init(&questions);
    list_init(&logs);
    c_lock(all);
    list_splice(&logs, &job->logs);
    job->log_count = 0;
    list_splice(&questions, &job->questions);
    list_del(&job->said_node);
    progress = job->progress;
    message = job->message;
    buf_init(&job->progress, progress.max);
    buf_init(&job->message, message.max);
    c_unlock(all);
    if (progress.n > 0 || message.n > 0)
        all->runner.sink->said(job->run, taken(&message), taken(&progress));
    buf_fini(&progress);
    buf_fini(&message);
    tell_logs(all, job, &logs);
    tell_questions(all, job, &questions);
}

static void tell_end(struct c_runner *all, struct errand_job *job)
{
    struct run_end end = {.passing = job->passing, .is_error = job->is_error};
    char *text;

    if (!job->has_outcome)
        errand_error(job, "it was stopped before it began");
    end.is_error = job->is_error;
    end.rpc_error = job->rpc_error;
    end.n = job->result.n;
    text = buf_take(&job->result);
    if (end.passing)
        end.why = text;
    else
        end.result = text;
    all->jobs--;
    all->runner.sink->ended(job->run, &end);
    if (end.passing)
        free(text);
    c_job_fini(job);
    free(job);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct c_runner *all = arg;
    struct list ended;
    struct list said;
    uint64_t count;

    (void)what;
    (void)!read(fd, &count, sizeof(count));
    list_init(&ended);
    list_init(&said);
    c_lock(all);
    list_splice(&ended, &all->ended);
    list_splice(&said, &all->said);
    c_unlock(all);
    LIST_EACH(&said, it)
    tell_news(all, LIST_OF(it, struct errand_job, said_node));
    LIST_EACH(&ended, it)
    tell_end(all, LIST_OF(it, struct errand_job, node));
}

static void start(struct runner *r, struct run_job *run_job)
{
    struct c_runner *all = (struct c_runner *)(void *)r;
    struct errand_job *job = mem_zalloc(sizeof(*job));

    c_job_init(job);
    job->run = run_job;
    job->tool = run_job->tool->handler;
    job->all = all;
    run_job->own = job;
    all->jobs++;
    /* One that cannot be started is no harm: the job waits for another. */
    if (all->jobs > all->threads && all->threads < all->most)
        (void)start_thread(all);
    c_lock(all);
    list_add_tail(&all->ready, &job->node);
    wake_thread(all);
    c_unlock(all);
}

/* There is no killing a thread: after the grace nothing more can be done than to wait. */
static void stop(struct runner *r, struct run_job *run_job, uint64_t grace_ms)
{
    struct errand_job *job = run_job->own;

    (void)r;
    (void)grace_ms;
    c_lock(job->all);
    atomic_store(&job->cancelled, true);
    if (job->sleeper != NULL)
        (void)pthread_cond_signal(job->sleeper);
    c_unlock(job->all);
}

static void answered(struct runner *r, struct run_job *run_job, struct span id, struct span answer)
{
    struct errand_job *job = run_job->own;

    (void)r;
    c_lock(job->all);
    c_answer(job, id, answer);
    if (job->sleeper != NULL)
        (void)pthread_cond_signal(job->sleeper);
    c_unlock(job->all);
}

bool c_is_busy(const struct runner *r)
{
    return ((const struct c_runner *)(const void *)r)->jobs > 0;
}

static void c_free(struct runner *r)
{
    struct c_runner *all = (struct c_runner *)(void *)r;

    assert(all->jobs == 0);
    c_lock(all);
    all->quit = true;
    (void)pthread_cond_broadcast(&all->work);
    c_unlock(all);
    for (unsigned i = 0; i < all->threads; i++)
        (void)pthread_join(all->thread[i], NULL);
    event_free(all->on_wake);
    (void)close(all->wake);
    (void)pthread_cond_destroy(&all->work);
    (void)pthread_mutex_destroy(&all->lock);
    free(all->thread);
    free(all);
}

struct runner *c_new(struct event_base *base, const struct run_sink *sink, unsigned threads)
{
    struct c_runner *all = mem_zalloc(sizeof(*all));

    all->runner = (struct runner){
        .sink = sink, .start = start, .stop = stop, .answered = answered, .free = c_free};
    (void)pthread_mutex_init(&all->lock, NULL);
    (void)pthread_cond_init(&all->work, NULL);
    list_init(&all->ready);
    list_init(&all->ended);
    list_init(&all->said);
    all->most = threads * RUN_WAITING_FACTOR;
    all->thread = mem_alloc(all->most * sizeof(*all->thread));
    all->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    all->on_wake = event_new(base, all->wake, EV_READ | EV_PERSIST, on_wake, all);
    if (all->wake == -1 || all->on_wake == NULL || event_add(all->on_wake, NULL) != 0)
        abort();
    for (unsigned i = 0; i < threads; i++)
        if (!start_thread(all))
            abort();
    return &all->runner;
}
