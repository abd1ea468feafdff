#include "worker/child.h"

#include "common/clock.h"
#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

struct seen {
    unsigned ends;
    enum child_how how;
    int value;
    bool too_much;
    size_t out_n;
    size_t err_n;
    char out[256];
    char err[256];
    char last; /* of what it wrote to standard error */
};

static struct event_base *base;
static struct children *set;

static void begin(void)
{
    base = event_base_new();
    set = children_new(base);
}

static void finish(void)
{
    children_free(set);
    event_base_free(base);
}

static void keep(char *to, size_t room, struct span s)
{
    size_t n = s.n < room - 1 ? s.n : room - 1;

    memcpy(to, s.p, n);
    to[n] = '\0';
}

static void on_ended(void *arg, const struct child_end *end)
{
    struct seen *s = arg;

    s->ends++;
    s->how = end->how;
    s->value = end->value;
    s->too_much = end->too_much;
    s->out_n = end->out.n;
    s->err_n = end->err.n;
    s->last = '\0';
    if (end->err.n > 0)
        s->last = end->err.p[end->err.n - 1];
    keep(s->out, sizeof(s->out), end->out);
    keep(s->err, sizeof(s->err), end->err);
}

static bool has_ended(void *arg)
{
    const struct seen *s = arg;

    return s->ends > 0;
}

static bool is_idle(void *arg)
{
    (void)arg;
    return children_count(set) == 0;
}

static struct child *start(struct seen *s, const char *script, const char *mark, struct span input)
{
    const char *const argv[] = {"sh", "-c", script, mark, NULL};
    const struct child_conf conf = {
        .argv = argv, .envp = env, .input = input, .out_max = 1000000, .grace_ms = 100};

    memset(s, 0, sizeof(*s));
    return child_start(set, &conf, on_ended, s);
}

static void run(struct seen *s, const char *script, struct span input)
{
    (void)start(s, script, "x", input);
    CHECK(s->ends == 0); /* always on a later turn */
    CHECK(turn_until(base, 10000, has_ended, s));
    CHECK(s->ends == 1);
}

TEST(input_goes_in_and_output_comes_out)
{
    struct seen s;

    begin();
    run(&s, "cat; echo oops >&2; exit 4", SPAN("{\"a\":1}"));
    CHECK(s.how == CHILD_EXITED && s.value == 4 && !s.too_much);
    CHECK(strcmp(s.out, "{\"a\":1}") == 0);
    CHECK(strcmp(s.err, "oops\n") == 0);
    run(&s, "cat", SPAN(""));
    CHECK(s.how == CHILD_EXITED && s.value == 0 && s.out_n == 0);
    finish();
}

TEST(a_job_that_does_not_read_its_input_neither_blocks_nor_hurts)
{
    size_t n = 4 << 20;
    char *big = calloc(1, n);
    struct seen s;

    begin();
    run(&s, "echo done", (struct span){big, n});
    CHECK(s.how == CHILD_EXITED && strcmp(s.out, "done\n") == 0);
    run(&s, "exec <&-; echo closed", (struct span){big, n});
    CHECK(s.how == CHILD_EXITED && strcmp(s.out, "closed\n") == 0);
    run(&s, "wc -c", (struct span){big, n});
    CHECK(strtol(s.out, NULL, 10) == (long)n);
    finish();
    free(big);
}

TEST(B21_output_over_the_ceiling_stops_the_job)
{
    struct seen s;
    char mark[32];

    begin();
    (void)start(&s, "trap '' TERM PIPE; yes $0; while :; do sleep 1; done", ps_mark(mark),
                SPAN(""));
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(s.too_much && s.out_n <= 1000000 && s.out_n > 900000);
    CHECK(ps_count(mark) == 0);
    finish();
}

TEST(output_right_at_the_ceiling_is_fine)
{
    struct seen s;

    begin();
    run(&s, "head -c 1000000 /dev/zero", SPAN(""));
    CHECK(!s.too_much && s.out_n == 1000000);
    run(&s, "head -c 1000001 /dev/zero", SPAN(""));
    CHECK(s.too_much);
    finish();
}

TEST(the_last_of_its_errors_is_kept)
{
    struct seen s;

    begin();
    run(&s, "head -c 300000 /dev/zero >&2; printf Z >&2", SPAN(""));
    CHECK(s.err_n == CHILD_ERR_KEPT);
    CHECK(s.last == 'Z');
    finish();
}

TEST(what_cannot_be_started_says_why)
{
    const char *const argv[] = {"no-such-program-here", NULL};
    const struct child_conf conf = {.argv = argv, .envp = env, .out_max = 10};
    struct rlimit old;
    struct rlimit few;
    struct seen s = {0};

    begin();
    (void)child_start(set, &conf, on_ended, &s);
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(s.how == CHILD_NOT_STARTED && s.value == ENOENT);
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few = old;
    few.rlim_cur = ps_fds();
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    (void)start(&s, "true", "x", SPAN(""));
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    CHECK(s.ends == 0);
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(s.how == CHILD_NOT_STARTED && s.value == EMFILE);
    finish();
}

static const char stubborn[] = "trap '' TERM; (setsid sh -c \"sleep $0; :\" &) ; "
                               "setsid sleep $0 & sleep $0 & sleep $0 & wait; wait; wait; "
                               "while :; do sleep 1; done";

static bool is_stopped_in_time(void)
{
    struct seen s;
    char mark[32];
    struct child *c;
    uint64_t began;
    uint64_t took;

    begin();
    c = start(&s, stubborn, ps_mark(mark), SPAN(""));
    CHECK(ps_wait(mark, 5, 10000));
    began = clock_mono_ms();
    child_stop(c, 300);
    CHECK(turn_until(base, 10000, has_ended, &s));
    took = clock_mono_ms() - began;
    CHECK(ps_count(mark) == 0);
    finish();
    return took >= 295 && took < 1300;
}

TEST(B5_a_stopped_tree_is_gone_within_grace_and_a_second)
{
    CHECK(in_time(is_stopped_in_time));
}

TEST(a_second_stop_may_shorten_the_grace_and_not_lengthen_it)
{
    struct seen s;
    char mark[32];
    struct child *c;

    begin();
    c = start(&s, stubborn, ps_mark(mark), SPAN(""));
    CHECK(ps_wait(mark, 5, 10000));
    child_stop(c, 60000);
    child_stop(c, 200);
    child_stop(c, 60000);
    CHECK(turn_until(base, 10000, has_ended, &s));
    c = start(&s, stubborn, ps_mark(mark), SPAN(""));
    CHECK(ps_wait(mark, 5, 10000));
    child_stop(c, 0);
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(ps_count(mark) == 0);
    finish();
}

static bool is_gone(void *arg)
{
    return ps_count(arg) == 0 && ps_zombies() == 0;
}

TEST(B5_a_job_that_kills_its_keeper_is_ended_all_the_same)
{
    struct seen s;
    char mark[32];

    begin();
    (void)start(&s, "(setsid sh -c \"sleep $0; :\" &); setsid sleep $0 & kill -9 $PPID; sleep $0",
                ps_mark(mark), SPAN(""));
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(s.how == CHILD_LOST);
    CHECK(turn_until(base, 10000, is_gone, mark));
    finish();
}

TEST(B5_a_job_that_stops_its_keeper_can_still_be_stopped)
{
    struct seen s;
    char mark[32];
    struct child *c;

    begin();
    c = start(&s, "kill -STOP $PPID; exec sleep $0", ps_mark(mark), SPAN(""));
    CHECK(ps_wait(mark, 1, 10000));
    child_stop(c, 100);
    CHECK(turn_until(base, 10000, has_ended, &s));
    CHECK(ps_count(mark) == 0);
    finish();
}

TEST(B5_B23_a_hundred_runs_leave_no_descriptor_and_no_zombie)
{
    struct seen s[100];
    unsigned fds;
    unsigned ends = 0;

    begin();
    run(&s[0], "true", SPAN(""));
    fds = ps_fds();
    for (int i = 0; i < 100; i++) {
        struct child *c =
            start(&s[i], "sleep 0.0$(($$ % 10)) & sleep 1000 & wait $!", "x", SPAN("{}"));

        if (i % 3 != 0)
            child_stop(c, i % 3 == 1 ? 0 : 20);
        else
            child_stop(c, 10);
        if (i % 10 == 9)
            CHECK(turn_until(base, 10000, is_idle, NULL));
    }
    for (int i = 0; i < 100; i++)
        ends += s[i].ends;
    CHECK(ends == 100);
    CHECK(ps_fds() == fds);
    CHECK(ps_zombies() == 0);
    finish();
}

static void be_a_worker(const char *mark)
{
    static struct seen s[5];

    begin();
    for (int i = 0; i < 5; i++)
        (void)start(&s[i], stubborn, mark, SPAN(""));
    (void)event_base_dispatch(base);
    _exit(0);
}

TEST(B5_a_killed_worker_leaves_no_process)
{
    char mark[32];
    pid_t worker;

    ps_mark(mark);
    worker = fork();
    if (worker == 0)
        be_a_worker(mark);
    CHECK(ps_wait(mark, 25, 10000));
    CHECK(kill(worker, SIGKILL) == 0);
    CHECK(waitpid(worker, NULL, 0) == worker);
    CHECK(ps_wait(mark, 0, 10000));
}

/* --- talking --- */

static struct {
    struct seen end; /* the first: both callbacks get it */
    char text[65536];
    size_t n;
} talked;

static void on_out(void *arg, struct span bytes)
{
    (void)arg;
    if (bytes.n > 0 && talked.n + bytes.n < sizeof(talked.text))
        memcpy(talked.text + talked.n, bytes.p, bytes.n);
    talked.n += bytes.n;
}

static struct child *talk_with(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    const struct child_conf conf = {.argv = argv, .envp = env, .on_out = on_out, .grace_ms = 1000};

    memset(&talked, 0, sizeof(talked));
    return child_start(set, &conf, on_ended, &talked.end);
}

static bool has_said(void *arg)
{
    return talked.n >= strlen(arg) && memcmp(talked.text, arg, strlen(arg)) == 0;
}

TEST(a_child_that_is_talked_with_answers_as_it_is_asked)
{
    struct child *c;

    begin();
    c = talk_with("while read x; do echo got $x; done; echo bye; echo oh >&2");
    child_write(c, SPAN("a\n"));
    CHECK(turn_until(base, 10000, has_said, (char[]){"got a\n"}));
    child_write(c, SPAN("b\nc"));
    child_write(c, SPAN("\n"));
    CHECK(turn_until(base, 10000, has_said, (char[]){"got a\ngot b\ngot c\n"}));
    CHECK(talked.end.ends == 0 && child_unread(c) == 0);
    child_hang_up(c);
    child_write(c, SPAN("not any more\n"));
    CHECK(turn_until(base, 10000, has_ended, &talked.end));
    CHECK(strcmp(talked.text, "got a\ngot b\ngot c\nbye\n") == 0);
    CHECK(talked.end.how == CHILD_EXITED && talked.end.value == 0 && talked.end.out_n == 0);
    CHECK(strcmp(talked.end.err, "oh\n") == 0);
    finish();
}

TEST(what_a_child_does_not_read_waits_and_is_read_in_order)
{
    static char much[1 << 20];
    struct child *c;

    begin();
    c = talk_with("read x; echo $x; head -c 8388608 | cksum; cksum");
    memset(much, 'y', sizeof(much));
    child_write(c, SPAN("go\n"));
    for (int i = 0; i < 8; i++)
        child_write(c, (struct span){much, sizeof(much)});
    CHECK(child_unread(c) > 0);
    child_write(c, SPAN("end"));
    child_hang_up(c);
    CHECK(turn_until(base, 20000, has_ended, &talked.end));
    CHECK(has_said((char[]){"go\n"}));
    CHECK(strstr(talked.text, " 8388608\n") != NULL && strstr(talked.text, " 3\n") != NULL);
    finish();
}

TEST(a_child_that_is_talked_with_and_does_not_listen_is_stopped)
{
    struct child *c;

    begin();
    c = talk_with("exec <&-; echo deaf; sleep 100");
    CHECK(turn_until(base, 10000, has_said, (char[]){"deaf\n"}));
    child_write(c, SPAN("hello\n"));
    CHECK(turn_until(base, 20000, has_ended, &talked.end));
    CHECK(talked.end.how == CHILD_SIGNALLED && talked.end.value == SIGTERM);
    finish();
}
