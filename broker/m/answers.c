#include "broker/m/answers.h"

#include "common/json.h"

static struct span responses_of(const struct req *q)
{
    return json_get(q->rpc.params, "inputResponses");
}

bool m_answers_fit(struct req *q)
{
    struct span name;
    struct span value;
    size_t cursor = 0;
    size_t n = 0;

    while (n <= M_ANSWERS_MAX && json_next(responses_of(q), &cursor, &name, &value))
        n++;
    if (n <= M_ANSWERS_MAX)
        return true;
    req_fail_why(q, ERR_INVALID_PARAMS, "params.inputResponses may hold up to 256 answers");
    return false;
}

void m_answers_store(struct req *q, struct span task, store_task_fn *fn)
{
    struct span responses = responses_of(q);
    struct span name;
    struct span value;
    size_t cursor = 0;
    struct buf answer;

    buf_init(&answer, q->b->conf->max_body + 32);
    while (json_next(responses, &cursor, &name, &value)) {
        if (json_type(value) != JSON_OBJECT)
            continue;
        buf_reset(&answer);
        buf_adds(&answer, "{\"result\":");
        buf_add_span(&answer, value);
        buf_addc(&answer, '}');
        q->answers++;
        store_answer(q->b->store, task, span_of(q->who.owner), (struct span){NULL, 0}, name,
                     buf_span(&answer), fn, q);
    }
    buf_fini(&answer);
}
