#include "worker/upstream/pages.h"

#include "common/json.h"
#include "common/mem.h"

#include <stdlib.h>

enum { PAGES_MAX = 1000, CURSOR_MAX = 64 << 10 };

struct pages {
    struct peer *peer;
    enum pages_kind kind;
    unsigned count;
    struct buf items;
    pages_fn *fn;
    void *arg;
};

static const struct {
    const char *method;
    const char *member;
} lists[] = {
    [PAGES_TOOLS] = {"tools/list", "tools"},
    [PAGES_RESOURCES] = {"resources/list", "resources"},
    [PAGES_TEMPLATES] = {"resources/templates/list", "resourceTemplates"},
    [PAGES_PROMPTS] = {"prompts/list", "prompts"},
};

const char *pages_member(enum pages_kind kind)
{
    return lists[kind].member;
}

static void end(struct pages *p, const char *why)
{
    struct span none = {NULL, 0};

    buf_addc(&p->items, ']');
    if (why == NULL && !buf_ok(&p->items))
        why = "a list is larger than 2 MiB";
    p->fn(p->arg, p->peer, p->kind, why == NULL ? buf_span(&p->items) : none, why);
    buf_fini(&p->items);
    free(p);
}

static void lost(struct pages *p)
{
    p->fn(p->arg, p->peer, p->kind, (struct span){NULL, 0}, NULL);
    buf_fini(&p->items);
    free(p);
}

static void add_items(struct pages *p, struct span list)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    while (json_next(list, &cursor, &name, &item)) {
        if (p->items.n > 1)
            buf_addc(&p->items, ',');
        buf_add_span(&p->items, item);
    }
}

static void ask(struct pages *p, struct span cursor);

static void on_reply(void *arg, const struct peer_reply *r)
{
    struct pages *p = arg;
    struct span list = json_get(r->value, lists[p->kind].member);
    struct span cursor = json_get(r->value, "nextCursor");

    if (r->outcome == PEER_LOST || r->outcome == PEER_UNSENT) {
        lost(p);
        return;
    }
    if (r->outcome != PEER_RESULT || json_type(list) != JSON_ARRAY) {
        end(p, "the server answers with no such list");
        return;
    }
    add_items(p, list);
    if (json_type(cursor) != JSON_STRING)
        end(p, NULL);
    else if (++p->count == PAGES_MAX || cursor.n > CURSOR_MAX || !buf_ok(&p->items))
        end(p, "the list does not end");
    else
        ask(p, cursor);
}

static void ask(struct pages *p, struct span cursor)
{
    struct buf params;

    buf_init(&params, CURSOR_MAX + 64);
    if (cursor.p != NULL) {
        buf_adds(&params, "{\"cursor\":");
        buf_add_span(&params, cursor);
        buf_addc(&params, '}');
    } else {
        buf_adds(&params, "{}");
    }
    peer_request(p->peer, lists[p->kind].method, buf_span(&params), on_reply, p);
    buf_fini(&params);
}

void pages_fetch(struct peer *peer, enum pages_kind kind, pages_fn *fn, void *arg)
{
    struct pages *p = mem_zalloc(sizeof(*p));

    *p = (struct pages){.peer = peer, .kind = kind, .fn = fn, .arg = arg};
    buf_init(&p->items, PAGES_BYTES_MAX);
    buf_addc(&p->items, '[');
    ask(p, (struct span){NULL, 0});
}
