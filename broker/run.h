/* run.h - a broker from its configuration to its exit status. */
#pragma once

#include "broker/conf.h"
#include "common/buf.h"

/* Runs until a signal or a fatal state of Redis; the exit status. A mistake found at start (an
 * address that cannot be bound) leaves its sentence in why. */
int broker_run(const struct conf *conf, struct buf *why);
