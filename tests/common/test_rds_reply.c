#include "common/rds_reply.h"

#include "common/mem.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer in text, which is fed in pieces of that size. */
static redisReply *read_in_pieces(redisReader *r, const char *text, size_t n, size_t piece)
{
    void *reply = NULL;

    for (size_t at = 0; at < n; at += piece) {
        (void)redisReaderFeed(r, text + at, n - at < piece ? n - at : piece);
        if (redisReaderGetReply(r, &reply) != REDIS_OK)
            return NULL;
        CHECK((reply != NULL) == (at + piece >= n));
    }
    return reply;
}

static bool is_as_sent(const redisReply *a)
{
    return a != NULL && a->type == REDIS_REPLY_ARRAY && a->elements == 7 &&
           a->element[0]->type == REDIS_REPLY_STATUS && strcmp(a->element[0]->str, "OK") == 0 &&
           a->element[1]->type == REDIS_REPLY_INTEGER && a->element[1]->integer == -42 &&
           a->element[2]->type == REDIS_REPLY_NIL && a->element[3]->type == REDIS_REPLY_NIL &&
           a->element[4]->type == REDIS_REPLY_STRING && a->element[4]->len == 3 &&
           memcmp(a->element[4]->str, "a\0b", 4) == 0 && a->element[5]->type == REDIS_REPLY_ARRAY &&
           a->element[5]->elements == 0 && a->element[6]->type == REDIS_REPLY_ERROR &&
           strcmp(a->element[6]->str, "ERR x") == 0;
}

TEST(every_kind_of_answer_is_read_in_pieces_of_any_size)
{
    static const char text[] = "*7\r\n+OK\r\n:-42\r\n$-1\r\n*-1\r\n$3\r\na\0b\r\n*0\r\n-ERR x\r\n";
    struct rds_memory m = {0};
    redisReader *r = rds_reply_reader(&m);

    for (size_t piece = 1; piece < sizeof(text); piece++) {
        CHECK(is_as_sent(read_in_pieces(r, text, sizeof(text) - 1, piece)));
        rds_reply_done(&m);
    }
    redisReaderFree(r);
    rds_reply_fini(&m);
}

TEST(an_answer_larger_than_what_is_kept_is_whole_and_its_memory_is_given_back)
{
    enum { BIG = 100000 };
    struct rds_memory m = {0};
    redisReader *r = rds_reply_reader(&m);
    char *text = mem_alloc(BIG + 64);
    int head = snprintf(text, 64, "*2\r\n$1\r\nx\r\n$%d\r\n", BIG);
    redisReply *reply;

    memset(text + head, 'y', BIG);
    memcpy(text + head + BIG, "\r\n", 2);
    reply = read_in_pieces(r, text, (size_t)head + BIG + 2, 4096);
    REQUIRE(reply != NULL);
    CHECK(reply->element[1]->len == BIG && reply->element[1]->str[BIG - 1] == 'y');
    CHECK(strcmp(reply->element[0]->str, "x") == 0);
    CHECK(m.last != m.first);
    rds_reply_done(&m);
    CHECK(m.last == m.first && m.used == 0);
    free(text);
    redisReaderFree(r);
    rds_reply_fini(&m);
}

TEST(the_memory_of_one_answer_serves_the_next)
{
    struct rds_memory m = {0};
    redisReader *r = rds_reply_reader(&m);
    redisReply *first = read_in_pieces(r, "$1\r\na\r\n", 7, 7);

    REQUIRE(first != NULL);
    rds_reply_done(&m);
    CHECK(read_in_pieces(r, "$1\r\nb\r\n", 7, 7) == first && strcmp(first->str, "b") == 0);
    redisReaderFree(r);
    rds_reply_fini(&m);
}

TEST(an_answer_that_was_cut_off_leaves_nothing_to_the_next_link)
{
    struct rds_memory m = {0};
    redisReader *r = rds_reply_reader(&m);
    redisReply *reply;

    (void)redisReaderFeed(r, "*2\r\n$3\r\nabc\r\n$3\r\nd", 18);
    CHECK(redisReaderGetReply(r, (void **)&reply) == REDIS_OK && reply == NULL);
    redisReaderFree(r);
    r = rds_reply_reader(&m);
    CHECK(m.used == 0);
    reply = read_in_pieces(r, ":7\r\n", 4, 4);
    CHECK(reply != NULL && reply->integer == 7);
    redisReaderFree(r);
    rds_reply_fini(&m);
}

TEST(an_array_of_absurd_length_is_refused)
{
    struct rds_memory m = {0};
    redisReader *r = rds_reply_reader(&m);
    void *reply = NULL;

    (void)redisReaderFeed(r, "*2000000\r\n", 10);
    CHECK(redisReaderGetReply(r, &reply) != REDIS_OK && reply == NULL);
    redisReaderFree(r);
    rds_reply_fini(&m);
}
