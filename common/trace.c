#include "common/trace.h"

#include "common/id.h"

#include <string.h>

enum { ID_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool are_hex(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_hex(p[i]))
            return false;
    return true;
}

static bool are_noughts(const char *p, size_t n)
{
    return strspn(p, "0") >= n;
}

/* Version, ids and flags where they have to be, and no id that stands for none. */
static bool is_traceparent(struct span text)
{
    const char *p = text.p;

    if (text.n < TRACE_TEXT_LEN || p[ID_AT - 1] != '-' || p[SPAN_AT - 1] != '-' ||
        p[FLAGS_AT - 1] != '-')
        return false;
    if (!are_hex(p, 2) || !are_hex(p + ID_AT, TRACE_ID_LEN) ||
        !are_hex(p + SPAN_AT, TRACE_SPAN_LEN) || !are_hex(p + FLAGS_AT, 2))
        return false;
    if (memcmp(p, "ff", 2) == 0 || are_noughts(p + ID_AT, TRACE_ID_LEN) ||
        are_noughts(p + SPAN_AT, TRACE_SPAN_LEN))
        return false;
    return text.n == TRACE_TEXT_LEN || (memcmp(p, "00", 2) != 0 && p[TRACE_TEXT_LEN] == '-');
}

bool trace_parse(struct trace *out, struct span text)
{
    *out = (struct trace){.is_sampled = false};
    if (!is_traceparent(text))
        return false;
    memcpy(out->id, text.p + ID_AT, TRACE_ID_LEN);
    memcpy(out->span, text.p + SPAN_AT, TRACE_SPAN_LEN);
    out->is_sampled = strchr("13579bdf", text.p[FLAGS_AT + 1]) != NULL;
    return true;
}

void trace_root(struct trace *out, bool is_sampled)
{
    char random[TRACE_ID_LEN + TRACE_SPAN_LEN + 1];

    id_hex(random, TRACE_ID_LEN + TRACE_SPAN_LEN);
    *out = (struct trace){.is_sampled = is_sampled};
    memcpy(out->id, random, TRACE_ID_LEN);
    memcpy(out->span, random + TRACE_ID_LEN, TRACE_SPAN_LEN);
}

void trace_child(struct trace *out, const struct trace *parent)
{
    struct trace child = *parent;

    if (parent->id[0] == '\0')
        trace_root(&child, parent->is_sampled);
    else
        id_hex(child.span, TRACE_SPAN_LEN);
    *out = child;
}

void trace_text(char out[static TRACE_TEXT_LEN + 1], const struct trace *t)
{
    out[0] = '\0';
    if (t->id[0] == '\0')
        return;
    memcpy(out, "00-", ID_AT);
    memcpy(out + ID_AT, t->id, TRACE_ID_LEN);
    out[SPAN_AT - 1] = '-';
    memcpy(out + SPAN_AT, t->span, TRACE_SPAN_LEN);
    memcpy(out + FLAGS_AT - 1, t->is_sampled ? "-01" : "-00", 4);
}

struct span trace_id_of(struct span text)
{
    if (!is_traceparent(text))
        return (struct span){NULL, 0};
    return (struct span){text.p + ID_AT, TRACE_ID_LEN};
}
