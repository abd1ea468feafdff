#include "broker/method/params.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/seal.h"

enum { CURSOR_TEXT_MAX = 1024, CURSOR_LIFE_MS = 24 * 60 * 60 * 1000, PAGE_END = 64 << 10 };

bool params_task_id(struct req *q, struct span *id)
{
    struct span value = json_get(q->rpc.params, "taskId");
    unsigned partition;

    if (json_type(value) != JSON_STRING) {
        req_fail_why(q, ERR_INVALID_PARAMS, "params.taskId must be a string");
        return false;
    }
    /* Ours need no escapes, so the raw bytes between the quotes are the id or it is none. */
    *id = (struct span){value.p + 1, value.n - 2};
    if (!id_parse(*id, store_partitions(q->b->store), &partition) ||
        partition != q->who.partition) {
        req_fail(q, ERR_NOT_FOUND);
        return false;
    }
    return true;
}

bool params_cursor(struct req *q, const char *list, struct buf *plain)
{
    struct span value = json_get(q->rpc.params, "cursor");
    char text[CURSOR_TEXT_MAX];
    long n;

    if (value.p == NULL)
        return true;
    n = json_string(value, text, sizeof(text));
    if (n >= 0 && seal_open(plain, store_secret(q->b->store), list, span_of(q->who.owner),
                            clock_wall_ms(), (struct span){text, (size_t)n}) == ERR_OK)
        return true;
    req_fail_why(q, ERR_INVALID_PARAMS,
                 "params.cursor is not one that this list gave you, or it has expired");
    return false;
}

bool params_page_takes(const struct buf *page, struct span entry)
{
    return page->n + entry.n + PAGE_END <= page->max;
}

void params_next_cursor(struct req *q, struct buf *out, const char *list, struct span plain)
{
    buf_adds(out, ",\"nextCursor\":\"");
    seal_close(out, store_secret(q->b->store), list, span_of(q->who.owner),
               clock_wall_ms() + CURSOR_LIFE_MS, plain);
    buf_addc(out, '"');
}
