/* resources/read, prompts/get, completion/complete: a hidden job for the wrapped server, and its
 * answer as it is.
 *
 *     begin -> on_created -> wait -> the server's result or error */
#include "broker/method.h"
#include "broker/method/forward.h"
#include "broker/method/outcome.h"

static void on_created(void *arg, enum err e, const struct store_result *r)
{
    struct req *q = arg;

    if (call_created(q, e, r))
        outcome_created(q, &r->task);
}

static void begin(struct req *q, const char *method)
{
    struct forward f;

    switch (forward_read(q, method, &f)) {
    case FORWARD_FAILED:
        break;
    case FORWARD_NOTHING:
        req_result(q, span_of(forward_nothing));
        break;
    case FORWARD_JOB:
        q->hidden = true;
        call_create(q, &f.call, &f.job, on_created);
        break;
    }
    forward_fini(&f);
}

void method_resources_read(struct req *q)
{
    begin(q, "resources/read");
}

void method_prompts_get(struct req *q)
{
    begin(q, "prompts/get");
}

void method_complete(struct req *q)
{
    begin(q, "completion/complete");
}
