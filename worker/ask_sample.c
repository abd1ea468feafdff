#include "worker/ask_sample.h"

#include "common/json.h"

enum { USES_MAX = 100 }; /* of one message: each is looked for among the answers */

static bool refuse(struct buf *why, const char *what)
{
    buf_adds(why, what);
    return false;
}

struct blocks {
    struct span content; /* one block or a list of them */
    size_t cursor;
    bool done;
};

static bool next_block(struct blocks *b, struct span *block)
{
    struct span none;

    if (json_type(b->content) == JSON_ARRAY)
        return json_next(b->content, &b->cursor, &none, block);
    *block = b->content;
    return !b->done && (b->done = true);
}

static size_t count(struct span content, const char *type, size_t *others)
{
    struct blocks b = {.content = content};
    struct span block;
    size_t n = 0;

    *others = 0;
    while (next_block(&b, &block)) {
        if (json_is(json_get(block, "type"), type))
            n++;
        else
            ++*others;
    }
    return n;
}

static bool has_result(struct span content, struct span id)
{
    struct blocks b = {.content = content};
    struct span block;

    while (next_block(&b, &block))
        if (json_is(json_get(block, "type"), "tool_result") &&
            span_equal(json_get(block, "toolUseId"), id))
            return true;
    return false;
}

/* Every tool_use of one message is answered in the next. */
static bool is_answered(struct span asked, struct span content)
{
    struct blocks b = {.content = asked};
    struct span block;

    while (next_block(&b, &block))
        if (json_is(json_get(block, "type"), "tool_use") &&
            !has_result(content, json_get(block, "id")))
            return false;
    return true;
}

static bool check_content(struct span content, struct buf *why)
{
    struct blocks b = {.content = content};
    struct span block;

    if (json_type(content) != JSON_OBJECT && json_type(content) != JSON_ARRAY)
        return refuse(why, "the \"content\" of a message must be a block or a list of blocks");
    while (next_block(&b, &block))
        if (json_type(block) != JSON_OBJECT || json_type(json_get(block, "type")) != JSON_STRING)
            return refuse(why, "a block of a message must be an object with a \"type\"");
    return true;
}

/* One message, and the one before it (absent for the first). */
static bool check_message(struct span message, struct span before, struct buf *why)
{
    struct span content = json_get(message, "content");
    struct span asked = json_get(before, "content");
    bool is_user = json_is(json_get(message, "role"), "user");
    size_t others;
    size_t results;
    size_t uses = 0;

    if (json_type(message) != JSON_OBJECT ||
        (!is_user && !json_is(json_get(message, "role"), "assistant")))
        return refuse(why, "a message must have the \"role\" user or assistant");
    if (!check_content(content, why))
        return false;
    if (asked.p != NULL && json_is(json_get(before, "role"), "assistant"))
        uses = count(asked, "tool_use", &others);
    if (uses > USES_MAX)
        return refuse(why, "a message may ask for 100 tools at most");
    results = count(content, "tool_result", &others);
    if (results > 0 && (!is_user || others > 0))
        return refuse(why, "tool_result blocks must stand alone in a message of the user");
    if (results != uses || (uses > 0 && !is_answered(asked, content)))
        return refuse(why, "every tool_use must be answered by one tool_result in the next "
                           "message, and nothing else");
    return true;
}

static bool check_messages(struct span messages, struct buf *why)
{
    struct span before = {NULL, 0};
    size_t cursor = 0;
    size_t others;
    struct span none;
    struct span message;

    while (json_next(messages, &cursor, &none, &message)) {
        if (!check_message(message, before, why))
            return false;
        before = message;
    }
    if (before.p == NULL)
        return refuse(why, "\"messages\" must hold at least one");
    if (json_is(json_get(before, "role"), "assistant") &&
        count(json_get(before, "content"), "tool_use", &others) > 0)
        return refuse(why, "the last message asks for tools that nobody has answered");
    return true;
}

bool ask_check_sample(struct span params, struct buf *why)
{
    int64_t n;

    if (json_type(json_get(params, "messages")) != JSON_ARRAY)
        return refuse(why, "\"messages\" must be a list");
    if (!json_int(json_get(params, "maxTokens"), &n) || n < 1)
        return refuse(why, "\"maxTokens\" must be a whole number from 1");
    return check_messages(json_get(params, "messages"), why);
}
