#include "common/rds_reply.h"

#include "common/mem.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SIZE = 16 * 1024,
    ALIGN = _Alignof(max_align_t),
    ELEMENTS_MAX = 1 << 20, /* of one array: no function of ours answers more */
};

struct rds_block {
    struct rds_block *next;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

/* hiredis changed a count to size_t on the way to 1.0. */
#if HIREDIS_MAJOR >= 1
typedef size_t count_type;
#else
typedef int count_type;
#endif

static void add_block(struct rds_memory *m, size_t size)
{
    struct rds_block *b = mem_alloc(sizeof(*b) + size);

    b->next = NULL;
    b->size = size;
    if (m->last != NULL)
        m->last->next = b;
    else
        m->first = b;
    m->last = b;
    m->used = 0;
}

static void *cut(struct rds_memory *m, size_t n)
{
    void *p;

    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (m->last == NULL || n > m->last->size - m->used)
        add_block(m, n > BLOCK_SIZE ? n : BLOCK_SIZE);
    p = m->last->bytes + m->used;
    m->used += n;
    return p;
}

void rds_reply_done(struct rds_memory *m)
{
    struct rds_block *b = m->first != NULL ? m->first->next : NULL;

    while (b != NULL) {
        struct rds_block *next = b->next;

        free(b);
        b = next;
    }
    m->last = m->first;
    m->used = 0;
    if (m->first != NULL)
        m->first->next = NULL;
}

void rds_reply_fini(struct rds_memory *m)
{
    rds_reply_done(m);
    free(m->first);
    *m = (struct rds_memory){0};
}

/* --- what hiredis calls --- */

static redisReply *create(const redisReadTask *task)
{
    redisReply *r = cut(task->privdata, sizeof(*r));

    memset(r, 0, sizeof(*r));
    r->type = task->type;
    if (task->parent != NULL)
        ((redisReply *)task->parent->obj)->element[task->idx] = r;
    return r;
}

static void *create_string(const redisReadTask *task, char *text, size_t n)
{
    redisReply *r = create(task);

    r->str = cut(task->privdata, n + 1);
    memcpy(r->str, text, n);
    r->str[n] = '\0';
    r->len = n;
    return r;
}

static void *create_array(const redisReadTask *task, count_type n)
{
    redisReply *r;

    if (n > ELEMENTS_MAX)
        return NULL;
    r = create(task);
    r->elements = (size_t)n;
    r->element = cut(task->privdata, (size_t)n * sizeof(r->element[0]) + 1);
    return r;
}

static void *create_integer(const redisReadTask *task, long long value)
{
    redisReply *r = create(task);

    r->integer = value;
    return r;
}

static void *create_nil(const redisReadTask *task)
{
    redisReply *r = create(task);

    r->type = REDIS_REPLY_NIL; /* the task says of what: $-1 or *-1 */
    return r;
}

#if HIREDIS_MAJOR >= 1
/* Of RESP3, which we never ask for. Without these, hiredis hands out a number for a pointer. */
static void *refuse_double(const redisReadTask *task, double value, char *text, size_t n)
{
    (void)task;
    (void)value;
    (void)text;
    (void)n;
    return NULL;
}

static void *refuse_bool(const redisReadTask *task, int value)
{
    (void)task;
    (void)value;
    return NULL;
}
#endif

/* The memory is given back as a whole. */
static void free_nothing(void *reply)
{
    (void)reply;
}

struct redisReader *rds_reply_reader(struct rds_memory *m)
{
    static redisReplyObjectFunctions functions = {
        .createString = create_string,
        .createArray = create_array,
        .createInteger = create_integer,
        .createNil = create_nil,
#if HIREDIS_MAJOR >= 1
        .createDouble = refuse_double,
        .createBool = refuse_bool,
#endif
        .freeObject = free_nothing
    };
    redisReader *r = redisReaderCreateWithFunctions(&functions);

    if (r == NULL)
        abort();
    rds_reply_done(m);
    r->privdata = m;
    return r;
}
