#include "worker/ask_answer.h"

#include "common/elicit.h"
#include "common/json.h"

static bool refuse(struct buf *why, const char *what)
{
    buf_adds(why, what);
    return false;
}

static bool check_elicited(struct span params, struct span result, struct buf *why)
{
    struct span action = json_get(result, "action");

    if (json_is(action, "decline") || json_is(action, "cancel"))
        return true;
    if (!json_is(action, "accept"))
        return refuse(why, "\"action\" is none of accept, decline and cancel");
    if (json_is(json_get(params, "mode"), "url"))
        return true;
    return elicit_check_content(json_get(params, "requestedSchema"), json_get(result, "content"),
                                why);
}

static bool check_sampled(struct span result, struct buf *why)
{
    enum json_type content = json_type(json_get(result, "content"));

    if (json_type(json_get(result, "role")) != JSON_STRING ||
        json_type(json_get(result, "model")) != JSON_STRING ||
        (content != JSON_OBJECT && content != JSON_ARRAY))
        return refuse(why, "a sampled message has \"role\", \"content\" and \"model\"");
    return true;
}

static bool check_error(struct span error, struct buf *why)
{
    int64_t code;

    if (!json_int(json_get(error, "code"), &code) ||
        json_type(json_get(error, "message")) != JSON_STRING)
        return refuse(why, "an error has a \"code\" and a \"message\"");
    return true;
}

bool ask_check_answer(const char *method, struct span params, struct span answer, struct buf *why)
{
    struct span result = json_get(answer, "result");
    struct span error = json_get(answer, "error");

    if ((result.p == NULL) == (error.p == NULL))
        return refuse(why, "it is neither a result nor an error");
    if (error.p != NULL)
        return check_error(error, why);
    if (json_type(result) != JSON_OBJECT)
        return refuse(why, "the result is no object");
    if (span_is(span_of(method), "elicitation/create"))
        return check_elicited(params, result, why);
    if (span_is(span_of(method), "sampling/createMessage"))
        return check_sampled(result, why);
    if (json_type(json_get(result, "roots")) != JSON_ARRAY)
        return refuse(why, "\"roots\" is no list");
    return true;
}
