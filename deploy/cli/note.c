#include "deploy/cli/note.h"

#include "common/buf.h"
#include "common/json.h"
#include "deploy/cli/say.h"

#include <ctype.h>

enum { TEXT_MAX = 1 << 20 };

static void add_data(struct buf *out, struct span data)
{
    if (json_type(data) == JSON_STRING)
        say_string(out, data, true);
    else
        say_clean(out, data, false);
}

/* `WARNING disk: nearly full`, and without a logger `WARNING: nearly full`. */
static void show_log(struct status *s, struct span params)
{
    struct span logger = json_get(params, "logger");
    struct buf text;

    buf_init(&text, TEXT_MAX);
    say_string(&text, json_get(params, "level"), false);
    for (size_t i = 0; i < text.n; i++)
        text.p[i] = (char)toupper((unsigned char)text.p[i]);
    if (json_type(logger) == JSON_STRING && logger.n > 2) {
        buf_addc(&text, ' ');
        say_string(&text, logger, false);
    }
    buf_adds(&text, ": ");
    add_data(&text, json_get(params, "data"));
    status_line(s, buf_ok(&text) ? text.p : "a log line that is too long");
    buf_fini(&text);
}

bool note_show(struct status *s, struct span method, struct span params)
{
    if (json_is(method, "notifications/progress")) {
        status_progress(s, json_get(params, "progress"), json_get(params, "total"),
                        json_get(params, "message"));
        return false;
    }
    if (json_is(method, "notifications/message"))
        show_log(s, params);
    else if (json_is(method, "notifications/elicitation/complete"))
        status_line(s, "errand: what was to be done at the address is done");
    else
        return false;
    return true;
}
