/* health.h - /healthz, /readyz and /metrics of a worker, for operators and their machines.
 *
 * Off unless --metrics names an address. Plain HTTP without a credential, meant for the inside of a
 * network: what it tells is counts, never a payload, a name of a caller or a secret.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct health;

/* A socket that listens; -1 and one sentence in why when that cannot be had. */
int health_listen(const char *host, uint16_t port, struct buf *why);

/* Does the worker serve now? Asked for /readyz. Before /metrics is answered it is asked too. */
typedef bool health_ready_fn(void *arg);
/* Takes the socket. */
struct health *health_new(struct event_base *base, int fd, health_ready_fn *is_ready, void *arg);
void health_free(struct health *h);
