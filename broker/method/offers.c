/* resources/list, resources/templates/list, prompts/list: pages of the catalog, sorted by key. The
 * cursor is the last key sent, so that what comes or goes between two pages makes none of the
 * others repeat or vanish. */
#include "broker/method/offers.h"

#include "broker/method.h"
#include "broker/method/params.h"

enum { PAGE_MAX = 12 << 20, KEY_MAX = 8192 };

static const struct {
    const char *member;
    const char *cursor;
} lists[] = {
    [OFFER_RESOURCE] = {"resources", "resources"},
    [OFFER_TEMPLATE] = {"resourceTemplates", "templates"},
    [OFFER_PROMPT] = {"prompts", "prompts"},
};

bool offers_page(struct req *q, struct buf *out, enum offer_kind kind)
{
    const struct offers *offers = catalog_offers(q->b->catalog);
    size_t count = offers_count(offers, kind);
    struct buf after;
    size_t first;
    size_t i;

    buf_init(&after, KEY_MAX);
    if (!params_cursor(q, lists[kind].cursor, &after)) {
        buf_fini(&after);
        return false;
    }
    i = after.n != 0 ? offers_after(offers, kind, buf_span(&after)) : 0;
    buf_fini(&after);
    buf_addf(out, "\"%s\":[", lists[kind].member);
    for (first = i; i < first + q->b->conf->page_size && i < count; i++) {
        struct span entry = offers_at(offers, kind, i)->raw;

        if (!params_page_takes(out, entry))
            break;
        buf_adds(out, i == first ? "" : ",");
        buf_add_span(out, entry);
    }
    buf_addc(out, ']');
    if (i > first && i < count)
        params_next_cursor(q, out, lists[kind].cursor,
                           span_of(offers_at(offers, kind, i - 1)->key));
    return true;
}

static void answer(struct req *q, enum offer_kind kind)
{
    struct buf out;

    buf_init(&out, PAGE_MAX);
    buf_addc(&out, '{');
    if (offers_page(q, &out, kind)) {
        buf_addc(&out, '}');
        req_result(q, buf_span(&out));
    }
    buf_fini(&out);
}

void method_resources_list(struct req *q)
{
    answer(q, OFFER_RESOURCE);
}

void method_templates_list(struct req *q)
{
    answer(q, OFFER_TEMPLATE);
}

void method_prompts_list(struct req *q)
{
    answer(q, OFFER_PROMPT);
}
