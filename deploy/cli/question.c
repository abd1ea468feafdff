#include "deploy/cli/question.h"

#include "common/elicit.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/say.h"

#include <stdlib.h>

enum { PARAMS_MAX = 16 << 20, VALUE_MAX = 1 << 20, WHY_MAX = 4096 };

static bool check(const struct question *q, struct buf *why)
{
    struct span params = buf_span(&q->params);
    struct span mode = json_get(params, "mode");
    struct span url = json_get(params, "url");

    if (json_type(json_get(params, "message")) != JSON_STRING) {
        buf_adds(why, "\"message\" must be a string");
        return false;
    }
    if (q->is_url) {
        if (json_type(url) == JSON_STRING && url.n > 2)
            return true;
        buf_adds(why, "\"url\" must be a string");
        return false;
    }
    if (mode.p == NULL || json_is(mode, "form"))
        return elicit_check_form(json_get(params, "requestedSchema"), why);
    buf_adds(why, "\"mode\" must be form or url");
    return false;
}

struct question *question_new(struct span id, struct span params, struct buf *why)
{
    struct question *q = mem_zalloc(sizeof(*q));

    buf_init(&q->id, PARAMS_MAX);
    buf_init(&q->params, PARAMS_MAX);
    buf_init(&q->content, PARAMS_MAX);
    buf_add_span(&q->id, id);
    buf_add_span(&q->params, params);
    q->is_url = json_is(json_get(params, "mode"), "url");
    if (!buf_ok(&q->id) || !buf_ok(&q->params))
        buf_adds(why, "the question is too large");
    else if (check(q, why))
        return q;
    question_free(q);
    return NULL;
}

void question_free(struct question *q)
{
    if (q == NULL)
        return;
    buf_fini(&q->id);
    buf_fini(&q->params);
    buf_fini(&q->content);
    free(q);
}

static bool is_required(struct span schema, struct span name)
{
    struct span list = json_get(schema, "required");
    char *text = mem_alloc(name.n + 1);
    bool found = false;
    size_t cursor = 0;
    struct span none;
    struct span item;

    if (json_string((struct span){name.p - 1, name.n + 2}, text, name.n + 1) >= 0)
        while (list.p != NULL && !found && json_next(list, &cursor, &none, &item))
            found = json_is(item, text);
    free(text);
    return found;
}

/* True: there is no further field. */
static bool next_field(struct question *q, struct buf *out)
{
    struct span schema = json_get(buf_span(&q->params), "requestedSchema");

    if (!json_next(json_get(schema, "properties"), &q->cursor, &q->field.name, &q->field.property))
        return true;
    q->field.required = is_required(schema, q->field.name);
    prompt_introduce(out, &q->field);
    prompt_ask(out, &q->field);
    return false;
}

bool question_begin(struct question *q, struct buf *out)
{
    struct span params = buf_span(&q->params);

    q->cursor = 0;
    buf_reset(&q->content);
    buf_adds(out, "\n");
    say_string(out, json_get(params, "message"), true);
    buf_adds(out, "\n");
    if (!q->is_url) {
        buf_adds(out, "(an empty line takes what stands in brackets; Ctrl-D declines)\n");
        return next_field(q, out);
    }
    buf_adds(out, "Open this address: ");
    say_string(out, json_get(params, "url"), false);
    buf_adds(out, "\n");
    question_again(q, out);
    return false;
}

void question_again(const struct question *q, struct buf *out)
{
    if (q->is_url)
        buf_adds(out, "Enter when you have (Ctrl-D declines): ");
    else
        prompt_ask(out, &q->field);
}

static void keep(struct question *q, struct span value)
{
    buf_adds(&q->content, q->content.n > 0 ? ",\"" : "\"");
    buf_add_span(&q->content, q->field.name);
    buf_adds(&q->content, "\":");
    buf_add_span(&q->content, value);
}

bool question_line(struct question *q, struct span line, struct buf *out)
{
    struct buf value;
    struct buf why;
    enum prompt_end end;

    if (q->is_url)
        return true;
    buf_init(&value, VALUE_MAX);
    buf_init(&why, WHY_MAX);
    end = prompt_read(&q->field, line, &value, &why);
    if (end == PROMPT_VALUE)
        keep(q, buf_span(&value));
    if (end == PROMPT_WRONG) {
        buf_addf(out, "  %s\n", why.p);
        prompt_ask(out, &q->field);
    }
    buf_fini(&value);
    buf_fini(&why);
    return end != PROMPT_WRONG && next_field(q, out);
}

void question_accept(const struct question *q, struct buf *result)
{
    buf_adds(result, "{\"action\":\"accept\"");
    if (!q->is_url) {
        buf_adds(result, ",\"content\":{");
        buf_add_span(result, buf_span(&q->content));
        buf_addc(result, '}');
    }
    buf_addc(result, '}');
}
