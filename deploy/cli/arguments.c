#include "deploy/cli/arguments.h"

#include "common/json.h"

#include <stdio.h>
#include <string.h>

bool arguments_read(const char *text, struct buf *out, struct buf *why)
{
    const char *wrong;
    size_t at;

    if (text == NULL) {
        buf_adds(out, "{}");
    } else if (strcmp(text, "-") != 0) {
        buf_adds(out, text);
    } else {
        char piece[65536];
        size_t n;

        while ((n = fread(piece, 1, sizeof(piece), stdin)) > 0)
            buf_add(out, piece, n);
    }
    if (!buf_ok(out)) {
        buf_adds(why, "the arguments are too large");
    } else if (json_check(buf_span(out), &wrong, &at) != ERR_OK) {
        buf_addf(why, "the arguments are no JSON: %s (at byte %zu)", wrong, at);
    } else if (json_type(buf_span(out)) != JSON_OBJECT) {
        buf_adds(why, "the arguments must be a JSON object, {...}");
    } else {
        return true;
    }
    return false;
}
