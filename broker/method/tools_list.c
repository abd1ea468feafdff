/* tools/list: one page of the catalog, sorted by name. The cursor is the last name sent, so a
 * tool that comes or goes between two pages makes none of the others repeat or vanish. */
#include "broker/catalog.h"
#include "broker/facade.h"
#include "broker/method.h"
#include "broker/method/params.h"

enum { PAGE_MAX = 4 << 20 };

/* Adds tools from number i on, as many as the page takes; the number of the next one. */
static size_t add_tools(const struct req *q, struct buf *out, size_t i, bool facade)
{
    const struct catalog *c = q->b->catalog;
    bool execution = l_has_tasks(q->version);
    size_t end = i + q->b->conf->page_size;
    bool any = false;

    for (; i < end && i < catalog_count(c); i++) {
        const struct tool *t = catalog_at(c, i);
        struct span entry = span_of(execution ? t->listed : t->plain);

        if (facade && facade_has(t->name))
            continue;
        if (!params_page_takes(out, entry))
            break;
        buf_adds(out, any ? "," : "");
        buf_add_span(out, entry);
        any = true;
    }
    if (facade && i == catalog_count(c))
        facade_list(q, out, any);
    return i;
}

void method_tools_list(struct req *q)
{
    const struct catalog *c = q->b->catalog;
    struct buf after;
    struct buf out;
    size_t i;

    buf_init(&after, 256);
    if (!params_cursor(q, "tools", &after))
        return;
    i = after.n != 0 ? catalog_after(c, buf_span(&after)) : 0;
    buf_init(&out, PAGE_MAX);
    buf_adds(&out, "{\"tools\":[");
    i = add_tools(q, &out, i, facade_applies(q));
    buf_addc(&out, ']');
    if (i < catalog_count(c))
        params_next_cursor(q, &out, "tools", span_of(catalog_at(c, i - 1)->name));
    buf_addc(&out, '}');
    req_result(q, buf_span(&out));
    buf_fini(&out);
    buf_fini(&after);
}
