#include "worker/result.h"

#include "common/json.h"
#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

enum { INTERNAL = -32603 };

void result_text(struct buf *out, struct span text, bool is_error)
{
    buf_adds(out, "{\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(out, text);
    buf_adds(out, is_error ? "}],\"isError\":true}" : "}],\"isError\":false}");
}

void result_structured(struct buf *out, struct span json)
{
    buf_adds(out, "{\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(out, json);
    buf_adds(out, "}],\"structuredContent\":");
    buf_add_span(out, json);
    buf_adds(out, ",\"isError\":false}");
}

bool result_is_object(struct span json, const char **why)
{
    if (json_check_limits(json, JSON_DEPTH_MAX, 0, why, NULL) != ERR_OK)
        return false;
    *why = "it is no JSON object";
    return json_type(json) == JSON_OBJECT;
}

bool result_check(struct span json, bool *is_error, const char **why)
{
    struct json_want want[] = {{.name = "content"}, {.name = "isError"}};

    *is_error = false;
    if (!result_is_object(json, why))
        return false;
    *why = "it has a member twice";
    if (json_get_many(json, want, 2) != ERR_OK)
        return false;
    *why = "it is no CallToolResult: \"content\" must be a list";
    if (json_type(want[0].value) != JSON_ARRAY)
        return false;
    *why = "it is no CallToolResult: \"isError\" must be true or false";
    return want[1].value.p == NULL || json_bool(want[1].value, is_error);
}

bool result_fits(struct span result, const struct schema *promised, struct buf *why)
{
    struct span content = json_get(result, "structuredContent");

    if (json_type(content) == JSON_OBJECT && schema_is_open(promised))
        return true;
    buf_adds(why, "the result is not what the tool's outputSchema promises: ");
    if (content.p == NULL) {
        buf_adds(why, "it has no structuredContent");
        return false;
    }
    return schema_check(promised, content, why);
}

void result_compact(struct buf *out, struct span json)
{
    bool quoted = false;

    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];

        if (!quoted && strchr(" \t\r\n", c) != NULL)
            continue;
        buf_addc(out, c);
        if (quoted && c == '\\')
            buf_addc(out, json.p[++i]);
        else if (c == '"')
            quoted = !quoted;
    }
}

struct span result_cut(struct span text, size_t max)
{
    if (text.n <= max)
        return text;
    text.n = max;
    while (text.n > 0 && ((unsigned char)text.p[text.n] & 0xc0U) == 0x80U)
        text.n--;
    return text;
}

static struct span first_text(struct span result)
{
    struct span content = json_get(result, "content");
    struct span name;
    struct span block;
    size_t cursor = 0;

    if (json_type(content) == JSON_ARRAY)
        while (json_next(content, &cursor, &name, &block))
            if (json_type(block) == JSON_OBJECT && json_is(json_get(block, "type"), "text"))
                return json_get(block, "text");
    return (struct span){NULL, 0};
}

static void add_start(struct buf *out, struct span value)
{
    char *text;
    long n;

    if (json_type(value) != JSON_STRING)
        return;
    text = mem_alloc(value.n + 1);
    n = json_string(value, text, value.n + 1);
    if (n > 0)
        buf_add_span(out, result_cut((struct span){text, (size_t)n}, RESULT_MESSAGE_MAX));
    free(text);
}

void result_message(struct buf *out, struct span result)
{
    add_start(out, first_text(result));
}

void result_error_message(struct buf *out, struct span error)
{
    add_start(out, json_get(error, "message"));
}

void result_rpc_error(struct buf *out, int code, struct span message)
{
    buf_addf(out, "{\"code\":%d,\"message\":", code);
    buf_add_json(out, message);
    buf_addc(out, '}');
}

void result_failure(struct buf *out, struct span text, bool is_rpc_error)
{
    if (is_rpc_error)
        result_rpc_error(out, INTERNAL, text);
    else
        result_text(out, text, true);
}
