#include "deploy/cli/stop.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t count;

static void on_signal(int signal)
{
    (void)signal;
    count = count + 1;
}

/* Without SA_RESTART, so that whoever waits looks up. */
void stop_init(void)
{
    struct sigaction a;

    memset(&a, 0, sizeof(a));
    a.sa_handler = on_signal;
    (void)sigemptyset(&a.sa_mask);
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
    count = 0;
}

unsigned stop_count(void)
{
    return (unsigned)count;
}
