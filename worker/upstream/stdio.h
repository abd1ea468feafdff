/* stdio.h - a wrapped server as a child: a message a line on its standard input and output. */
#pragma once

#include "worker/child.h"
#include "worker/run.h"
#include "worker/tool_server.h"
#include "worker/upstream/transport.h"

/* Starts it. job: the one that it is started for, whose ERRAND_* it then gets; or NULL. When it
 * cannot be started, gone() says so. set outlives the transport, or takes it along. */
struct transport *stdio_open(struct children *set, struct tool_server *server,
                             const struct run_job *job, const struct transport_sink *sink,
                             void *arg);
