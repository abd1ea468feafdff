/* tasks/list: the caller's tasks, oldest first. The cursor is the sequence number of the last one
 * sent, sealed to its owner, so pages neither skip nor repeat while tasks come and go. */
#include "broker/l/render.h"
#include "broker/method.h"
#include "broker/method/params.h"
#include "broker/method/task_read.h"

#include <stdlib.h>

enum { PAGE_MAX = 16 << 20 };

static void on_page(void *arg, enum err e, const struct task *tasks, size_t count, bool more,
                    uint64_t retry_ms)
{
    struct req *q = arg;
    struct store_result r = {.retry_ms = retry_ms};
    struct buf seq;
    struct buf out;

    if (!req_back(q) || !task_read_ok(q, e, &r))
        return;
    buf_init(&out, PAGE_MAX);
    buf_adds(&out, "{\"tasks\":[");
    for (size_t i = 0; i < count; i++) {
        buf_adds(&out, i == 0 ? "" : ",");
        l_task(&out, &tasks[i], task_iserror_fails(q));
    }
    buf_addc(&out, ']');
    if (more && count != 0) {
        buf_init(&seq, 32);
        buf_add_u64(&seq, tasks[count - 1].seq);
        params_next_cursor(q, &out, "tasks", buf_span(&seq));
        buf_fini(&seq);
    }
    buf_addc(&out, '}');
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

void method_tasks_list(struct req *q)
{
    uint64_t after = 0;
    struct buf cursor;

    buf_init(&cursor, 32);
    if (!params_cursor(q, "tasks", &cursor))
        return;
    if (cursor.n != 0)
        after = strtoull(cursor.p, NULL, 10);
    buf_fini(&cursor);
    req_step(q);
    store_list(q->b->store, span_of(q->who.owner), after, (unsigned)q->b->conf->page_size,
               q->b->conf->rate, on_page, q);
}
