/* janitor.h - the periodic work of a broker: due tasks in Redis, when no worker does it. */
#pragma once

#include "broker/broker.h"

struct janitor;

struct janitor *janitor_new(struct broker *b);
void janitor_free(struct janitor *j);
