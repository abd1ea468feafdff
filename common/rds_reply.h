/* rds_reply.h - where answers live while they are told: one piece of memory for all parts of one.
 *
 * hiredis allocates each string and each array of an answer by itself, twice; a task's row has
 * sixteen. Here they are cut from blocks that are kept from answer to answer. For rds.c only.
 */
#pragma once

#include <stddef.h>

struct redisReader;

struct rds_block;

struct rds_memory {
    struct rds_block *first; /* kept; those behind it came for a large answer */
    struct rds_block *last;
    size_t used; /* of last */
};

/* A reader whose answers lie in m. */
struct redisReader *rds_reply_reader(struct rds_memory *m);
/* The answer has been told, or will never be complete: nothing of it is used any more. */
void rds_reply_done(struct rds_memory *m);
void rds_reply_fini(struct rds_memory *m);
