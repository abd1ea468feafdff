/* template.h - texts with places that are filled for each request to somebody else's server.
 *
 * ${env:NAME} becomes a variable of the worker. {name} becomes a value of the job: {arguments},
 * {job}, {taskId}, {principal}, {callbackUrl} and {callbackSecret}, or else the argument of that
 * name: a string as it is, anything else as its JSON text, one that is not there as nothing. What
 * was put in is not looked at again.
 *
 * In a URL a value is encoded, so that it stays within its part of the path or query; a variable
 * is not. In JSON a string that is nothing but one place becomes the value itself; where there is
 * none, the member is left out, and an element is null.
 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>

struct template_facts {
    struct span arguments; /* a JSON object */
    struct span job; /* raw JSON string or number, or {NULL, 0} */
    const char *task;
    const char *principal;
    const char *callback_url; /* this and the next: "" for none */
    const char *callback_secret;
};

/* What places are in a text. */
struct template_use {
    bool job;
    bool callback_url;
    bool callback_secret;
};

enum template_kind { TEMPLATE_TEXT, TEMPLATE_URL, TEMPLATE_HEADER };

/* Says which places there are (adds to use), and calls on_env for each variable that is named.
 * False and one sentence, without a place before it, for ${ that is no variable, a variable that
 * is not set, and a URL that is none or whose server would depend on a value. */
typedef void template_env_fn(void *arg, const char *name);
bool template_check(const char *text, enum template_kind kind, struct template_use *use,
                    template_env_fn *on_env, void *arg, struct buf *why);
/* The same for all strings in checked JSON. */
bool template_check_json(struct span json, struct template_use *use, template_env_fn *on_env,
                         void *arg, struct buf *why);

/* Appends the filled text. NULL, or what cannot be sent, as a static sentence. */
const char *template_fill(struct buf *out, const char *text, enum template_kind kind,
                          const struct template_facts *facts) MUST_USE;
const char *template_fill_json(struct buf *out, struct span json,
                               const struct template_facts *facts) MUST_USE;
