/* probe.h - asks a program on this machine how it is, over HTTP: what a health check runs.
 *
 * Blocking, without an event loop, within a few seconds whatever the other side does.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Does GET path at that address answer 200? Otherwise why gets one sentence, with the beginning of
 * what was answered. host: as in --listen; an address that stands for all of them is asked at the
 * loopback. */
bool probe_http(const char *host, uint16_t port, const char *path, struct buf *why);
