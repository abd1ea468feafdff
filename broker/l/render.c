#include "broker/l/render.h"

#include "common/json.h"

#define RELATED "io.modelcontextprotocol/related-task"

void l_task(struct buf *out, const struct task *t, bool iserror_fails)
{
    buf_adds(out, "{\"taskId\":\"");
    buf_add_span(out, t->id);
    buf_adds(out, "\",\"status\":\"");
    buf_adds(out, task_l_status(t, iserror_fails));
    buf_addc(out, '"');
    if (t->message.n != 0) {
        buf_adds(out, ",\"statusMessage\":");
        buf_add_json(out, t->message);
    }
    buf_adds(out, ",\"createdAt\":\"");
    buf_add_time(out, t->created_ms);
    buf_adds(out, "\",\"lastUpdatedAt\":\"");
    buf_add_time(out, t->updated_ms);
    buf_adds(out, "\",\"ttl\":");
    buf_add_u64(out, t->expires_ms - t->created_ms);
    if (t->poll_ms != 0) {
        buf_adds(out, ",\"pollInterval\":");
        buf_add_u64(out, t->poll_ms);
    }
    buf_addc(out, '}');
}

static void add_related(struct buf *out, struct span id)
{
    buf_adds(out, "\"" RELATED "\":{\"taskId\":\"");
    buf_add_span(out, id);
    buf_adds(out, "\"}");
}

/* The members of a _meta object but a related-task of the tool's own making. */
static void add_meta(struct buf *out, struct span meta, struct span id)
{
    struct span name;
    struct span value;
    size_t cursor = 0;

    buf_addc(out, '{');
    add_related(out, id);
    while (json_next(meta, &cursor, &name, &value)) {
        if (json_name_is(name, RELATED))
            continue;
        buf_adds(out, ",\"");
        buf_add_span(out, name);
        buf_adds(out, "\":");
        buf_add_span(out, value);
    }
    buf_addc(out, '}');
}

void l_related(struct buf *out, struct span result, struct span id)
{
    struct span meta = json_get(result, "_meta");
    size_t cursor = 0;
    struct span name;
    struct span value;
    const char *open = memchr(result.p, '{', result.n);
    size_t rest = (size_t)(result.p + result.n - (open + 1));

    if (meta.p != NULL) {
        buf_add(out, result.p, (size_t)(meta.p - result.p));
        add_meta(out, json_type(meta) == JSON_OBJECT ? meta : SPAN("{}"), id);
        buf_add(out, meta.p + meta.n, (size_t)(result.p + result.n - (meta.p + meta.n)));
        return;
    }
    buf_adds(out, "{\"_meta\":{");
    add_related(out, id);
    buf_adds(out, json_next(result, &cursor, &name, &value) ? "}," : "}");
    buf_add(out, open + 1, rest);
}
