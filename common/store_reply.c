#include "common/store_reply.h"

#include <hiredis/hiredis.h>

enum {
    ROW_ID,
    ROW_STATE,
    ROW_IS_ERROR,
    ROW_VISIBLE,
    ROW_DIALECT,
    ROW_CREATED,
    ROW_UPDATED,
    ROW_EXPIRES,
    ROW_POLL,
    ROW_VERSION,
    ROW_SEQ,
    ROW_MESSAGE,
    ROW_PROGRESS,
    ROW_TOOL,
    ROW_SESSION,
    ROW_OUTCOME,
    ROW_FIELDS
};

struct span reply_span(const struct redisReply *r)
{
    if (r == NULL || (r->type != REDIS_REPLY_STRING && r->type != REDIS_REPLY_STATUS))
        return (struct span){NULL, 0};
    return (struct span){r->str, (size_t)r->len};
}

bool reply_u64(const struct redisReply *r, uint64_t *out)
{
    struct span text = reply_span(r);
    uint64_t n = 0;

    if (r != NULL && r->type == REDIS_REPLY_INTEGER && r->integer >= 0) {
        *out = (uint64_t)r->integer;
        return true;
    }
    if (text.p == NULL || text.n == 0 || text.n > 19)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.p[i] - '0');
    }
    *out = n;
    return true;
}

bool reply_flag(const struct redisReply *r)
{
    uint64_t n;

    return reply_u64(r, &n) && n == 1;
}

bool reply_is(const struct redisReply *r, const char *word)
{
    return span_is(reply_span(r), word);
}

bool reply_array(const struct redisReply *r, size_t n)
{
    return r != NULL && r->type == REDIS_REPLY_ARRAY && r->elements >= n;
}

size_t reply_count(const struct redisReply *r)
{
    return reply_array(r, 0) ? r->elements : 0;
}

const struct redisReply *reply_at(const struct redisReply *r, size_t i)
{
    return i < reply_count(r) ? r->element[i] : NULL;
}

/* An empty number is 0: optional fields are not stored. */
static bool number(const struct redisReply *r, uint64_t *out)
{
    struct span text = reply_span(r);

    *out = 0;
    return (text.p != NULL && text.n == 0) || reply_u64(r, out);
}

bool store_task_row(const struct redisReply *row, struct task *out)
{
    struct redisReply **f;
    struct span state;

    if (!reply_array(row, ROW_FIELDS))
        return false;
    f = row->element;
    state = reply_span(f[ROW_STATE]);
    *out = (struct task){.id = reply_span(f[ROW_ID]),
                         .is_error = reply_flag(f[ROW_IS_ERROR]),
                         .hidden = reply_is(f[ROW_VISIBLE], "c"),
                         .message = reply_span(f[ROW_MESSAGE]),
                         .progress = reply_span(f[ROW_PROGRESS]),
                         .tool = reply_span(f[ROW_TOOL]),
                         .session = reply_span(f[ROW_SESSION]),
                         .outcome = reply_span(f[ROW_OUTCOME])};
    if (out->id.n == 0 || state.n != 1 || !task_state_of(state.p[0], &out->state) ||
        reply_span(f[ROW_DIALECT]).n != 1)
        return false;
    out->dialect = f[ROW_DIALECT]->str[0];
    return number(f[ROW_CREATED], &out->created_ms) && number(f[ROW_UPDATED], &out->updated_ms) &&
           number(f[ROW_EXPIRES], &out->expires_ms) && number(f[ROW_POLL], &out->poll_ms) &&
           number(f[ROW_VERSION], &out->version) && number(f[ROW_SEQ], &out->seq);
}
