#include "worker/keeper.h"

#include "tests/lib/proc.h"
#include "tests/lib/ps.h"
#include "tests/lib/test.h"
#include "worker/kin.h"
#include "worker/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const no_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

static int start(struct launched *l, const char *script, const char *mark)
{
    const char *const argv[] = {"sh", "-c", script, mark, NULL};

    return launch(l, argv, no_env, NULL, -1);
}

static void order(const struct launched *l, enum keeper_order o)
{
    char byte = (char)o;

    CHECK(send(l->control, &byte, 1, MSG_NOSIGNAL) == 1);
}

/* Waits for the keeper's last word and reaps it. */
static bool end_within(struct launched *l, int ms, struct keeper_end *end)
{
    struct pollfd p = {.fd = l->control, .events = POLLIN};
    bool told = poll(&p, 1, ms) == 1 && read(l->control, end, sizeof(*end)) == sizeof(*end);

    if (!told)
        (void)kill(l->keeper, SIGKILL);
    CHECK(waitpid(l->keeper, NULL, 0) == l->keeper);
    (void)close(l->control);
    (void)close(l->in);
    (void)close(l->out);
    (void)close(l->err);
    return told;
}

/* A tree that ignores TERM, with one that forked twice and one in another session. */
static const char stubborn[] = "trap '' TERM; "
                               "(setsid sh -c 'trap \"\" TERM; sleep '$0'; :' &) ; "
                               "setsid sleep $0 & "
                               "sleep $0 & sleep $0 & wait; wait; wait";

TEST(the_exit_status_is_told)
{
    struct launched l;
    struct keeper_end end;

    REQUIRE(start(&l, "exit 7", "x") == 0);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_EXITED && end.value == 7);
}

TEST(the_signal_that_ended_it_is_told)
{
    struct launched l;
    struct keeper_end end;

    REQUIRE(start(&l, "kill -9 $$", "x") == 0);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_SIGNALLED && end.value == SIGKILL);
}

TEST(a_program_that_is_not_there_is_not_started)
{
    struct launched l;
    struct keeper_end end;
    const char *const argv[] = {"/nowhere/at/all", NULL};

    REQUIRE(launch(&l, argv, no_env, NULL, -1) == 0);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_NOT_STARTED && end.value == ENOENT);
}

TEST(a_folder_that_is_not_there_is_not_entered)
{
    struct launched l;
    struct keeper_end end;
    const char *const argv[] = {"true", NULL};

    REQUIRE(launch(&l, argv, no_env, "/nowhere/at/all", -1) == 0);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_NOT_STARTED && end.value == ENOENT);
}

TEST(what_a_job_leaves_behind_is_killed_when_it_ends)
{
    struct launched l;
    struct keeper_end end;
    char mark[32];

    ps_mark(mark);
    REQUIRE(start(&l, "setsid sleep $0 & sleep $0 & (sleep $0 &); exit 0", mark) == 0);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_EXITED && end.value == 0);
    CHECK(ps_count(mark) == 0);
}

static bool says(const struct launched *l, const char *line)
{
    char word[16] = "";

    return poll(&(struct pollfd){.fd = l->out, .events = POLLIN}, 1, 10000) == 1 &&
           read(l->out, word, 15) > 0 && strcmp(word, line) == 0;
}

TEST(term_lets_a_job_end_in_its_own_way)
{
    struct launched l;
    struct keeper_end end;

    REQUIRE(start(&l, "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.02; done", "x") ==
            0);
    CHECK(says(&l, "up\n"));
    order(&l, KEEPER_TERM);
    CHECK(says(&l, "bye\n"));
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_EXITED && end.value == 3);
}

TEST(term_reaches_those_who_left_the_group)
{
    struct launched l;
    struct keeper_end end;
    char mark[32];

    ps_mark(mark);
    REQUIRE(start(&l, "(setsid sleep $0 &); exec sleep $0", mark) == 0);
    CHECK(ps_wait(mark, 2, 10000));
    order(&l, KEEPER_TERM);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_SIGNALLED && end.value == SIGTERM);
    CHECK(ps_count(mark) == 0);
}

TEST(B5_kill_ends_a_tree_that_ignores_term_and_fled)
{
    struct launched l;
    struct keeper_end end;
    char mark[32];

    ps_mark(mark);
    REQUIRE(start(&l, stubborn, mark) == 0);
    CHECK(ps_wait(mark, 5, 10000));
    order(&l, KEEPER_TERM);
    CHECK(poll(&(struct pollfd){.fd = l.control, .events = POLLIN}, 1, 200) == 0);
    order(&l, KEEPER_KILL);
    REQUIRE(end_within(&l, 10000, &end));
    CHECK(end.how == KEEPER_SIGNALLED && end.value == SIGKILL);
    CHECK(ps_count(mark) == 0);
}

TEST(a_closed_socket_means_a_dead_worker)
{
    struct launched l;
    char mark[32];

    ps_mark(mark);
    REQUIRE(start(&l, stubborn, mark) == 0);
    CHECK(ps_wait(mark, 5, 10000));
    (void)close(l.control);
    CHECK(waitpid(l.keeper, NULL, 0) == l.keeper);
    CHECK(ps_count(mark) == 0);
    (void)close(l.in);
    (void)close(l.out);
    (void)close(l.err);
}

TEST(signals_for_the_workers_group_do_not_end_a_keeper)
{
    struct launched l;
    struct keeper_end end;
    char mark[32];

    ps_mark(mark);
    REQUIRE(start(&l, "exec sleep $0", mark) == 0);
    CHECK(ps_wait(mark, 1, 10000));
    CHECK(getpgid(l.keeper) == l.keeper);
    CHECK(kill(l.keeper, SIGTERM) == 0 && kill(l.keeper, SIGINT) == 0);
    CHECK(poll(&(struct pollfd){.fd = l.control, .events = POLLIN}, 1, 100) == 0);
    order(&l, KEEPER_KILL);
    CHECK(end_within(&l, 10000, &end));
}

static void be_a_worker(const char *mark)
{
    for (int i = 0; i < 3; i++) {
        struct launched l;

        if (start(&l, stubborn, mark) != 0)
            _exit(1);
    }
    for (;;)
        (void)pause();
}

TEST(B5_a_killed_worker_leaves_no_process_of_any_job)
{
    char mark[32];
    pid_t worker;

    ps_mark(mark);
    worker = fork();
    if (worker == 0)
        be_a_worker(mark);
    CHECK(ps_wait(mark, 15, 10000));
    CHECK(kill(worker, SIGKILL) == 0);
    CHECK(waitpid(worker, NULL, 0) == worker);
    CHECK(ps_wait(mark, 0, 10000));
}
