#include "worker/launch.h"

#include "tests/lib/ps.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "ONLY=this", NULL};

/* Runs a script to its end; what it wrote, cut to the room. */
static void run(const char *script, const char *cwd, char *out, size_t room)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct launched l;
    ssize_t n;

    out[0] = '\0';
    REQUIRE(launch(&l, argv, env, cwd, -1) == 0);
    (void)close(l.in);
    (void)waitpid(l.keeper, NULL, 0);
    n = read(l.out, out, room - 1);
    out[n > 0 ? n : 0] = '\0';
    (void)close(l.control);
    (void)close(l.out);
    (void)close(l.err);
}

TEST(a_job_gets_the_given_environment_and_nothing_else)
{
    char out[512];

    run("env | grep -v '^PWD=\\|^_=\\|^SHLVL=' | sort", NULL, out, sizeof(out));
    CHECK(strcmp(out, "ONLY=this\nPATH=/usr/local/bin:/usr/bin:/bin\n") == 0);
}

TEST(a_job_starts_in_its_folder)
{
    char out[64];

    run("pwd", "/usr", out, sizeof(out));
    CHECK(strcmp(out, "/usr\n") == 0);
}

TEST(a_job_inherits_no_descriptor_of_the_worker)
{
    char out[64];
    int leaky = open("/dev/null", O_RDONLY); /* not even one that lacks the flag */

    run("ls /proc/self/fd | grep -v '^[012]$' | wc -l", NULL, out, sizeof(out));
    CHECK(strcmp(out, "1\n") == 0); /* that of ls reading the folder */
    (void)close(leaky);
}

TEST(a_job_leads_a_session_of_its_own_with_all_signals_at_their_defaults)
{
    char out[256];

    run("read a b c d e f g < /proc/$$/stat; [ $$ = $e ] && [ $$ = $f ] && echo leads; "
        "grep -E '^Sig(Blk|Ign)' /proc/self/status | grep -vc '0000000000000000'",
        NULL, out, sizeof(out));
    CHECK(strcmp(out, "leads\n0\n") == 0);
}

TEST(without_descriptors_nothing_is_started_and_nothing_is_left)
{
    struct rlimit old;
    struct rlimit few;
    struct launched l;
    const char *const argv[] = {"true", NULL};
    unsigned before = ps_fds();

    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few = old;
    few.rlim_cur = before + 2;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK(launch(&l, argv, env, NULL, -1) == EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    CHECK(ps_fds() == before);
}
