#include "worker/kin.h"

#include "tests/lib/ps.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start_pause(void)
{
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            (void)pause();
    return pid;
}

static bool lists(pid_t pid)
{
    pid_t kin[64];
    size_t n = kin_list(kin, 64);

    for (size_t i = 0; i < n; i++)
        if (kin[i] == pid)
            return true;
    return false;
}

TEST(a_child_is_listed_until_it_is_reaped)
{
    pid_t pid = start_pause();

    CHECK(lists(pid));
    CHECK(!lists(getpid()));
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, NULL, 0) == pid);
    CHECK(!lists(pid));
}

TEST(no_more_are_listed_than_there_is_room_for)
{
    pid_t a = start_pause();
    pid_t b = start_pause();
    pid_t kin[1];

    CHECK(kin_list(kin, 1) == 1);
    CHECK(kin_signal(SIGKILL, 0) == 2);
    CHECK(waitpid(a, NULL, 0) == a);
    CHECK(waitpid(b, NULL, 0) == b);
}

TEST(a_signal_goes_to_all_but_the_spared_one)
{
    pid_t a = start_pause();
    pid_t b = start_pause();

    CHECK(kin_signal(SIGKILL, a) == 2);
    CHECK(waitpid(b, NULL, 0) == b);
    CHECK(waitpid(a, NULL, WNOHANG) == 0);
    CHECK(kin_signal(SIGKILL, 0) == 1);
    CHECK(waitpid(a, NULL, 0) == a);
    CHECK(kin_signal(SIGKILL, 0) == 0);
}
