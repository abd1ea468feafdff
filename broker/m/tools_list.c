/* tools/list: a page of the catalog, as cacheable as it changes (C-01). */
#include "broker/catalog.h"
#include "broker/m/method.h"
#include "broker/m/render.h"
#include "broker/method/params.h"

enum { PAGE_MAX = 4 << 20 };

void m_tools_list(struct req *q)
{
    const struct catalog *c = q->b->catalog;
    struct buf members;
    struct buf after;
    struct buf out;
    size_t i;

    buf_init(&after, 256);
    if (!params_cursor(q, "tools", &after))
        return;
    i = after.n != 0 ? catalog_after(c, buf_span(&after)) : 0;
    buf_init(&members, PAGE_MAX);
    buf_init(&out, PAGE_MAX + 4096);
    buf_adds(&members, "\"tools\":[");
    for (size_t first = i; i < first + q->b->conf->page_size && i < catalog_count(c); i++) {
        struct span entry = span_of(catalog_at(c, i)->plain);

        if (!params_page_takes(&members, entry))
            break;
        buf_adds(&members, i == first ? "" : ",");
        buf_add_span(&members, entry);
    }
    buf_adds(&members, "],\"ttlMs\":5000,\"cacheScope\":\"public\"");
    if (i < catalog_count(c))
        params_next_cursor(q, &members, "tools", span_of(catalog_at(c, i - 1)->name));
    m_result(&out, buf_span(&members));
    req_result(q, buf_span(&out));
    buf_fini(&out);
    buf_fini(&members);
    buf_fini(&after);
}
