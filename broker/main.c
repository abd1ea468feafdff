/* errand-broker: boot order, signals. */
#include "broker/conf.h"
#include "broker/run.h"
#include "common/cfg.h"
#include "common/probe.h"
#include "common/seal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int probe(const struct conf *conf, struct buf *why)
{
    const char *path = strcmp(conf->probe, "live") == 0 ? "/healthz" : "/readyz";

    return probe_http(conf->host, conf->port, path, why) ? CFG_EXIT_OK : CFG_EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct conf conf = {0};
    struct buf why;
    int status = CFG_EXIT_USAGE;

    (void)signal(SIGPIPE, SIG_IGN);
    if (seal_init() != 0) {
        (void)fputs("errand-broker: no source of randomness\n", stderr);
        return CFG_EXIT_FAILURE;
    }
    buf_init(&why, 4096);
    switch (conf_read(&conf, argc, argv, &why)) {
    case CFG_READY:
        status = conf.probe != NULL ? probe(&conf, &why) : broker_run(&conf, &why);
        break;
    case CFG_DONE:
        status = CFG_EXIT_OK;
        break;
    case CFG_BAD:
        break;
    }
    if (why.n != 0)
        (void)fprintf(stderr, "errand-broker: %s\n", why.p);
    buf_fini(&why);
    conf_fini(&conf);
    return status;
}
