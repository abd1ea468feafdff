#include "broker/l/answer.h"

#include "common/json.h"
#include "common/metric.h"

enum { ID_MAX = 160 };

/* "<task>/<key>/<n>", as the question was sent. */
static bool parse_id(const struct req *q, char *text, size_t room, struct span *task,
                     struct span *key)
{
    long n = json_string(q->rpc.id, text, room);
    unsigned partition;
    const char *end;

    if (n <= ID_LEN + 1 || text[ID_LEN] != '/')
        return false;
    *task = (struct span){text, ID_LEN};
    end = strrchr(text, '/');
    *key = (struct span){text + ID_LEN + 1, 0};
    if (end <= key->p)
        return false;
    key->n = (size_t)(end - key->p);
    return id_parse(*task, store_partitions(q->b->store), &partition) &&
           partition == q->who.partition;
}

static void on_answered(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    (void)r;
    if (!req_back(q))
        return;
    metric_add(METRIC_ANSWERS, e == ERR_OK ? "taken" : "ignored", 1);
    if (e == ERR_OK || e == ERR_NOT_FOUND || e == ERR_CONFLICT)
        req_quiet(q); /* late, foreign or unknown ones are ignored alike */
    else
        req_fail(q, e);
}

void l_answer(struct req *q)
{
    char text[ID_MAX];
    struct buf answer;
    struct span task;
    struct span key;
    bool is_result = q->rpc.result.p != NULL;

    if (!parse_id(q, text, sizeof(text), &task, &key)) {
        req_quiet(q);
        return;
    }
    buf_init(&answer, q->b->conf->max_body + 32);
    buf_adds(&answer, is_result ? "{\"result\":" : "{\"error\":");
    buf_add_span(&answer, is_result ? q->rpc.result : q->rpc.error);
    buf_addc(&answer, '}');
    req_step(q);
    store_answer(q->b->store, task, span_of(q->who.owner), span_of(q->session), key,
                 buf_span(&answer), on_answered, q);
    buf_fini(&answer);
}
