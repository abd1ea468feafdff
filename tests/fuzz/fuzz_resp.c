/* Any bytes from a Redis: however they are cut into pieces, the same answers come out of the reader
 * and its memory, and the same error after them. */
#include "tests/fuzz/fuzz.h"

#include "common/buf.h"
#include "common/rds_reply.h"

#include <hiredis/hiredis.h>
#include <string.h>

enum { LONGEST = 64 << 10, SHOWN_MAX = 4 << 20 };

static void show(struct buf *out, const redisReply *r)
{
    buf_addf(out, "%d:%lld:", r->type, r->integer);
    if (r->str != NULL) {
        FUZZ_CHECK(r->str[r->len] == '\0');
        buf_add(out, r->str, r->len);
    }
    buf_addf(out, "(%zu", r->elements);
    for (size_t i = 0; i < r->elements; i++)
        show(out, r->element[i]);
    buf_addc(out, ')');
}

/* All that can be read now; false after an error. */
static bool take_all(struct buf *out, redisReader *reader, struct rds_memory *m)
{
    for (;;) {
        void *reply = NULL;

        if (redisReaderGetReply(reader, &reply) != REDIS_OK) {
            FUZZ_CHECK(reader->errstr[0] != '\0');
            buf_adds(out, reader->errstr);
            return false;
        }
        if (reply == NULL)
            return true;
        show(out, reply);
        rds_reply_done(m);
    }
}

static void read_in(struct buf *out, const uint8_t *data, size_t size, size_t step)
{
    struct rds_memory m = {0};
    redisReader *reader = rds_reply_reader(&m);

    for (size_t at = 0; at < size; at += step) {
        if (redisReaderFeed(reader, (const char *)data + at, size - at < step ? size - at : step) !=
            REDIS_OK)
            break;
        if (!take_all(out, reader, &m))
            break;
    }
    redisReaderFree(reader);
    rds_reply_fini(&m);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct buf whole;
    struct buf pieces;

    if (size > LONGEST)
        return 0;
    buf_init(&whole, SHOWN_MAX);
    buf_init(&pieces, SHOWN_MAX);
    read_in(&whole, data, size, size + 1);
    read_in(&pieces, data, size, size > 0 ? data[size - 1] % 16 + 1U : 1);
    FUZZ_CHECK(span_equal(buf_span(&whole), buf_span(&pieces)));
    buf_fini(&whole);
    buf_fini(&pieces);
    return 0;
}
