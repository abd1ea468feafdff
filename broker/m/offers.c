/* What wrapped servers offer beside tools: pages of it, as cacheable as they change (C-01), and the
 * requests that a server answers. */
#include "broker/method/offers.h"
#include "broker/m/job.h"
#include "broker/m/method.h"
#include "broker/m/render.h"
#include "broker/method/forward.h"
#include "common/json.h"

enum { PAGE_MAX = 12 << 20 };

static void answer(struct req *q, enum offer_kind kind)
{
    struct buf members;
    struct buf out;

    buf_init(&members, PAGE_MAX);
    buf_init(&out, PAGE_MAX + 4096);
    if (offers_page(q, &members, kind)) {
        buf_adds(&members, ",\"ttlMs\":5000,\"cacheScope\":\"public\"");
        m_result(&out, buf_span(&members));
        req_result(q, buf_span(&out));
    }
    buf_fini(&out);
    buf_fini(&members);
}

void m_resources_list(struct req *q)
{
    answer(q, OFFER_RESOURCE);
}

void m_templates_list(struct req *q)
{
    answer(q, OFFER_TEMPLATE);
}

void m_prompts_list(struct req *q)
{
    answer(q, OFFER_PROMPT);
}

/* --- what a server answers --- */

static void answer_nothing(struct req *q)
{
    struct buf out;

    buf_init(&out, 4096);
    m_tool_result(&out, span_of(forward_nothing));
    req_result(q, buf_span(&out));
    buf_fini(&out);
}

/* What a requestState belongs to: the request without what changes from one try to the next. */
static void digest_of(struct req *q, const char *method)
{
    static const char *const members[] = {"name", "uri", "arguments", "ref", "argument", "context"};
    enum { MEMBERS = sizeof(members) / sizeof(members[0]) };
    struct span parts[MEMBERS + 1] = {span_of(method)};

    for (size_t i = 0; i < MEMBERS; i++)
        parts[i + 1] = json_get(q->rpc.params, members[i]);
    id_digest(q->digest, parts, MEMBERS + 1);
}

static void begin(struct req *q, const char *method)
{
    struct forward f;

    switch (forward_read(q, method, &f)) {
    case FORWARD_FAILED:
        break;
    case FORWARD_NOTHING:
        answer_nothing(q);
        break;
    case FORWARD_JOB:
        digest_of(q, method);
        m_job(q, &f.call, &f.job);
        break;
    }
    forward_fini(&f);
}

void m_resources_read(struct req *q)
{
    begin(q, "resources/read");
}

void m_prompts_get(struct req *q)
{
    begin(q, "prompts/get");
}

void m_complete(struct req *q)
{
    begin(q, "completion/complete");
}
