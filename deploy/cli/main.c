/* errand: the command line for those who call tools and those who look after the installation. */
#include "common/mem.h"
#include "common/seal.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/option.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct conf conf = {0};
    struct cfg_rest rest = {.items = mem_zalloc((size_t)(argc + 1) * sizeof(char *))};
    struct buf why;
    int status = CFG_EXIT_USAGE;

    (void)signal(SIGPIPE, SIG_IGN);
    if (seal_init() != 0)
        return complain(CFG_EXIT_FAILURE, "no source of randomness");
    buf_init(&why, 4096);
    switch (conf_read(&conf, argc, argv, &rest, &why)) {
    case CFG_READY:
        if (option_check(&conf, rest.items, rest.n, &why))
            status = command_run(&conf, rest.items, rest.n);
        else
            (void)complain(status, "%s", why.p);
        break;
    case CFG_DONE:
        status = CFG_EXIT_OK;
        break;
    case CFG_BAD:
        (void)complain(status, "%s", why.p);
        break;
    }
    if (fflush(stdout) != 0 && status == CFG_EXIT_OK)
        status = CFG_EXIT_FAILURE;
    buf_fini(&why);
    conf_fini(&conf);
    free(rest.items);
    return status;
}
