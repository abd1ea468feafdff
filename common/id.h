/* id.h - names that cannot be guessed, and where they live.
 *
 * A task or session id is 24 characters of [A-Za-z0-9_-]: 2 digits for the partition, 22
 * characters for 128 random bits. Any broker finds the partition from the id alone. Ids are
 * compared as text, never decoded.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

enum {
    ID_LEN = 24,
    ID_OWNER_LEN = 16, /* keyed hash of a principal's name: 96 bits */
    ID_SHORT_LEN = 8, /* a process: broker or worker */
    ID_PARTITIONS_MAX = 64,
};

void id_new(char out[static ID_LEN + 1], unsigned partition);
/* Is this an id of ours in form, for that many partitions? On success *partition is set. */
bool id_parse(struct span text, unsigned partitions, unsigned *partition);
void id_short(char out[static ID_SHORT_LEN + 1]);
/* So many random lower-case hex digits (64 at most, an even number), and a NUL. */
void id_hex(char *out, unsigned digits);
/* The owner key of a principal under the installation's secret, and its partition. */
void id_owner(char out[static ID_OWNER_LEN + 1], const unsigned char secret[static 32],
              struct span principal);
unsigned id_owner_partition(struct span owner, unsigned partitions);
/* A digest for names of content: 22 characters of base64url of BLAKE2b-128. */
void id_digest(char out[static 23], const struct span *parts, size_t count);
