/* worker.h - a worker from its start to its last slot.
 *
 *     STARTING --store ready--> SERVING --SIGTERM or SIGINT--> DRAINING --> end
 *
 * DRAINING claims nothing more, lets the jobs run on for most of the grace, then stops those
 * left and hands them back, their attempt not charged. A second signal ends the process at once:
 * its keepers end the jobs, and the leases lapse. SIGHUP while STARTING or SERVING: the tools are
 * read again and announced; running jobs keep theirs; a mistake leaves all as it is. Redis away:
 * jobs whose lease cannot be renewed are stopped, results are kept and told when it is back, and
 * nothing needs to be restarted.
 */
#pragma once

#include "common/url.h"
#include "worker/tools.h"

struct worker_conf {
    const struct url *url;
    const char *redis_shown;
    const char *prefix;
    unsigned partitions;
    const unsigned char *secret; /* or NULL */
    unsigned slots;
    uint64_t lease_ms;
    uint64_t grace_ms;
    struct tools *tools; /* moved away */
    /* On SIGHUP: what is served from then on, or false and one sentence. NULL: it is ignored. */
    bool (*reread)(void *arg, struct tools *tools, struct buf *why);
    void *arg;
    const char *public_url; /* how the outside reaches the brokers, or NULL */
    const char *program;
    const char *otlp; /* or NULL */
    int metrics_fd; /* a socket that listens, taken over; -1: none */
};

/* Serves until it is told to end; the exit code of the process. */
int worker_serve(const struct worker_conf *conf);
