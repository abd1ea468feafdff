/* store_durable.h - waits until replicas have what was written (WAIT), on a link of its own.
 *
 * WAIT holds up every later command of its connection, so it has one for itself. Replication is one
 * stream: whatever this process wrote before, on any link, is with a replica that has acknowledged
 * a small write made here afterwards. One WAIT is under way at a time; who asks meanwhile shares
 * the next.
 */
#pragma once

#include "common/store.h"

struct store_durable;

enum { STORE_DURABLE_MS = 1000 }; /* how long one WAIT may take */

struct store_durable *store_durable_new(struct store *s, unsigned replicas);
void store_durable_free(struct store_durable *d); /* ends what waits */
