#include "deploy/cli/local_inside.h"

#include "common/json.h"
#include "worker/ask_check.h"
#include "worker/result.h"

enum { TEXT_MAX = 64 << 10, PARAMS_MAX = 2 << 20 };

/* --- what it tells --- */

void local_said(void *arg, struct slot *s, struct span message, struct span progress)
{
    struct local *l = arg;
    struct status *status = person_status(l->person);
    struct buf text;

    (void)s;
    buf_init(&text, TEXT_MAX);
    if (message.p != NULL)
        buf_add_json(&text, message);
    if (progress.p != NULL)
        status_progress(status, json_get(progress, "progress"), json_get(progress, "total"),
                        text.n > 0 ? buf_span(&text) : (struct span){NULL, 0});
    else
        status_show(status, "working", buf_span(&text));
    buf_fini(&text);
}

void local_logged(void *arg, struct slot *s, struct span level, struct span logger,
                  struct span data)
{
    struct local *l = arg;
    struct buf params;

    (void)s;
    buf_init(&params, PARAMS_MAX);
    buf_adds(&params, "{\"level\":");
    buf_add_json(&params, level);
    if (logger.p != NULL)
        buf_adds(&params, ",\"logger\":");
    buf_add_span(&params, logger);
    buf_adds(&params, ",\"data\":");
    buf_add_span(&params, data);
    buf_addc(&params, '}');
    if (buf_ok(&params))
        person_note(l->person, SPAN("\"notifications/message\""), buf_span(&params));
    buf_fini(&params);
}

/* --- what it asks --- */

void local_answer(void *arg, struct span id, const char *member, struct span value)
{
    struct local *l = arg;
    struct slot *s = slots_find_id(l->slots, span_of(l->id));
    struct buf text;

    if (s == NULL)
        return;
    buf_init(&text, value.n + 32);
    buf_addf(&text, "{\"%s\":", member);
    buf_add_span(&text, value);
    buf_addc(&text, '}');
    slot_answer(s, id, buf_span(&text));
    buf_fini(&text);
}

void local_asked(void *arg, struct slot *s, struct span id, struct span method, struct span params)
{
    struct local *l = arg;
    struct span caps = person_answers(l->person) ? SPAN(PERSON_CAPABILITIES) : SPAN("{}");
    struct buf text;
    struct buf why;
    int code;

    (void)s;
    buf_init(&why, TEXT_MAX);
    buf_init(&text, TEXT_MAX);
    code = ask_check(caps, method, params, &why);
    if (code != 0) {
        result_rpc_error(&text, code, buf_span(&why));
        local_answer(l, id, "error", buf_span(&text));
    } else {
        buf_add_json(&text, method);
        (void)person_asked(l->person, id, buf_span(&text), params);
    }
    buf_fini(&text);
    buf_fini(&why);
}

void local_withdrew(void *arg, struct slot *s, struct span id)
{
    struct local *l = arg;
    struct buf params;

    (void)s;
    buf_init(&params, PARAMS_MAX);
    buf_adds(&params, "{\"requestId\":");
    buf_add_span(&params, id);
    buf_addc(&params, '}');
    person_note(l->person, SPAN("\"notifications/cancelled\""), buf_span(&params));
    buf_fini(&params);
}
