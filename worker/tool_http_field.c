#include "worker/tool_http_field.h"

#include "common/json.h"
#include "common/mem.h"
#include "worker/pointer.h"
#include "worker/result.h"
#include "worker/template.h"
#include "worker/tool_http.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20, WHY_MAX = 1024, STATES_MAX = 100 };

/* --- one reader a kind of member --- */

static void remember(void *arg, const char *name)
{
    struct tool_list *l = arg;

    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i], name) == 0)
            return;
    tool_list_add(l, mem_strdup(name));
}

static bool check(struct reading *r, const struct field *f, const char *text,
                  enum template_kind kind)
{
    struct template_use *use = r->own;
    struct buf why;
    bool ok;

    buf_init(&why, WHY_MAX);
    ok = template_check(text, kind, use, remember, &r->t->http->secrets, &why);
    if (!ok)
        (void)field_refuse(r, f->name, buf_span(&why).p);
    buf_fini(&why);
    return ok;
}

static char **place(const struct reading *r, const struct field *f)
{
    return (char **)(void *)((char *)r->into + f->offset);
}

bool http_read_method(struct reading *r, const struct field *f, struct span value)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (!json_is(value, methods[i]))
            continue;
        free(*place(r, f));
        *place(r, f) = mem_strdup(methods[i]);
        return true;
    }
    return field_refuse_value(r, f->name, value,
                              "is none of \"GET\", \"POST\", \"PUT\", \"PATCH\" and \"DELETE\"");
}

bool http_read_url(struct reading *r, const struct field *f, struct span value)
{
    *place(r, f) = tool_text(value);
    if (*place(r, f) == NULL)
        return field_refuse_value(r, f->name, value, "is no URL; write it in quotes");
    return check(r, f, *place(r, f), TEMPLATE_URL);
}

static bool is_token(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "!#$%&'*+-.^_`|~";

    return name != NULL && name[0] != '\0' && name[strspn(name, allowed)] == '\0';
}

static bool read_header(struct reading *r, const struct field *f, struct span name,
                        struct span value)
{
    const struct span quoted = {name.p - 1, name.n + 2};
    struct tool_list *l = (struct tool_list *)(void *)((char *)r->into + f->offset);
    char *key = tool_text(quoted);
    char *text = tool_text(value);
    struct buf line;
    bool ok = false;

    buf_init(&line, TEXT_MAX);
    if (!is_token(key)) {
        (void)field_refuse_value(r, f->name, quoted, "is no name of a header");
    } else if (text == NULL) {
        (void)field_refuse_value(r, f->name, value, "is no value of a header; write a text");
    } else if (check(r, f, text, TEMPLATE_HEADER)) {
        buf_addf(&line, "%s: %s", key, text);
        tool_list_add(l, buf_take(&line));
        ok = true;
    }
    buf_fini(&line);
    free(key);
    free(text);
    return ok;
}

bool http_read_headers(struct reading *r, const struct field *f, struct span value)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_OBJECT)
        return field_refuse_value(r, f->name, value,
                                  "is no object; write {\"Authorization\": \"Bearer ...\"}");
    while (json_next(value, &cursor, &name, &item))
        if (!read_header(r, f, name, item))
            return false;
    return true;
}

bool http_read_body(struct reading *r, const struct field *f, struct span value)
{
    struct buf why;
    struct buf text;
    bool ok;

    buf_init(&why, WHY_MAX);
    buf_init(&text, TEXT_MAX);
    result_compact(&text, value);
    *place(r, f) = buf_take(&text);
    ok = template_check_json(value, r->own, remember, &r->t->http->secrets, &why);
    if (!ok)
        (void)field_refuse(r, f->name, buf_span(&why).p);
    buf_fini(&why);
    return ok;
}

bool http_read_pointer(struct reading *r, const struct field *f, struct span value)
{
    *place(r, f) = tool_text(value);
    if (*place(r, f) != NULL && pointer_is_one(*place(r, f)))
        return true;
    return field_refuse_value(r, f->name, value, "is no JSON pointer; write one like \"/state\"");
}

/* A number is as good as a pointer to one. */
bool http_read_total(struct reading *r, const struct field *f, struct span value)
{
    double number;

    if (json_type(value) != JSON_NUMBER)
        return http_read_pointer(r, f, value);
    if (!json_number(value, &number) || number <= 0)
        return field_refuse_value(r, f->name, value, "is no total; write a number above 0");
    *place(r, f) = mem_dup(value.p, value.n);
    return true;
}

static bool is_taken(const struct tool_http *h, struct span value)
{
    return h->states[HTTP_WORKING].n + h->states[HTTP_COMPLETED].n + h->states[HTTP_FAILED].n +
                   h->states[HTTP_CANCELLED].n >
               0 &&
           tool_http_state(h, value) != HTTP_UNKNOWN &&
           !(tool_http_state(h, value) == HTTP_WORKING && h->states[HTTP_WORKING].n == 0);
}

bool http_read_states(struct reading *r, const struct field *f, struct span value)
{
    struct tool_list *l = (struct tool_list *)(void *)((char *)r->into + f->offset);
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(value) != JSON_ARRAY)
        return field_refuse_value(r, f->name, value, "is no list; write one like [\"DONE\"]");
    while (json_next(value, &cursor, &name, &item)) {
        if (json_type(item) == JSON_OBJECT || json_type(item) == JSON_ARRAY)
            return field_refuse_value(r, f->name, item, "is no state; write a text or a number");
        if (is_taken(r->t->http, item))
            return field_refuse_value(r, f->name, item, "is in two lists; keep one of them");
        tool_list_add(l, mem_dup(item.p, item.n));
        if (l->n > STATES_MAX)
            return field_refuse(r, f->name, "it has more than 100 states");
    }
    return l->n > 0 || field_refuse(r, f->name, "it is empty; write a state, like [\"DONE\"]");
}

bool http_read_count(struct reading *r, const struct field *f, struct span value)
{
    unsigned *out = (unsigned *)(void *)((char *)r->into + f->offset);
    int64_t n;

    if (!json_int(value, &n) || n < 0 || (uint64_t)n > f->max)
        return field_refuse_value(r, f->name, value, "is no count; write a number, 0 to 1000");
    *out = (unsigned)n;
    return true;
}

bool http_read_file(struct reading *r, const struct field *f, struct span value)
{
    char *text = tool_text(value);

    if (text == NULL || text[0] == '\0') {
        free(text);
        return field_refuse_value(r, f->name, value, "is no path; write one in quotes");
    }
    *place(r, f) = field_path(r->src, text, false);
    return access(*place(r, f), R_OK) == 0 ||
           field_refuse_value(r, f->name, value,
                              "cannot be read; write the path of a PEM file of authorities");
}
