/* drain.h - leaving in good order.
 *
 * The first SIGTERM or SIGINT: readiness turns 503, streams end, readers who wait are told to ask
 * again elsewhere, plain calls may finish within --grace. The second ends the process at once.
 */
#pragma once

#include "broker/broker.h"

struct drain;

struct drain *drain_new(struct broker *b);
void drain_free(struct drain *d);
