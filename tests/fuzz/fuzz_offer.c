/* Two lines: what a wrapped server says it offers, and an address. Whatever was announced, lists
 * are sorted, hold nothing twice, and whoever lists an address has it; and a template fits an
 * address exactly when trying every way to fit it finds one. */
#include "tests/fuzz/fuzz.h"

#include "broker/offer.h"
#include "broker/template.h"

#include <string.h>

enum { SMALL = 20 };

static bool may_hold(char kind, char c)
{
    if (kind == '+' || kind == '#')
        return true;
    if (kind == '?' || kind == '&')
        return c != '#';
    return strchr(kind == '/' || kind == ';' ? "?#" : "/?#", c) == NULL;
}

static bool fits(struct span t, struct span uri);

/* Every length that the expression may stand for. */
static bool fits_expression(char kind, struct span rest, struct span uri)
{
    bool is_optional = kind != '\0' && strchr("/.;?&#", kind) != NULL;

    if (is_optional && fits(rest, uri))
        return true;
    for (size_t n = 1; n <= uri.n; n++) {
        if (n == 1 && is_optional ? uri.p[0] != kind : !may_hold(kind, uri.p[n - 1]))
            return false;
        if (fits(rest, (struct span){uri.p + n, uri.n - n}))
            return true;
    }
    return false;
}

static bool fits(struct span t, struct span uri)
{
    const char *close;
    size_t n;

    if (t.n == 0)
        return uri.n == 0;
    if (t.p[0] != '{')
        return uri.n > 0 && uri.p[0] == t.p[0] &&
               fits((struct span){t.p + 1, t.n - 1}, (struct span){uri.p + 1, uri.n - 1});
    close = memchr(t.p, '}', t.n);
    if (close == NULL || close == t.p + 1)
        return false;
    n = (size_t)(close - t.p) + 1;
    return fits_expression(strchr("+#/.;?&", t.p[1]) != NULL ? t.p[1] : '\0',
                           (struct span){close + 1, t.n - n}, uri);
}

/* A broken expression fits nothing, however much of the address was used up before it. */
static bool is_whole(struct span t)
{
    const char *open;

    while ((open = memchr(t.p, '{', t.n)) != NULL) {
        size_t before = (size_t)(open - t.p);
        const char *close = memchr(open, '}', t.n - before);

        if (close == NULL || close == open + 1)
            return false;
        t = (struct span){close + 1, t.n - (size_t)(close + 1 - t.p)};
    }
    return true;
}

static void check_template(struct span t, struct span uri)
{
    if (t.n <= SMALL && uri.n <= SMALL && memchr(uri.p, '\0', uri.n) == NULL &&
        memchr(t.p, '\0', t.n) == NULL)
        FUZZ_CHECK(template_fits(t, uri) == (is_whole(t) && fits(t, uri)));
}

static void check_list(const struct offers *o, enum offer_kind kind, struct span uri)
{
    for (size_t i = 0; i < offers_count(o, kind); i++) {
        const struct offer_item *item = offers_at(o, kind, i);
        struct span key = span_of(item->key);

        FUZZ_CHECK(i == 0 || strcmp(offers_at(o, kind, i - 1)->key, item->key) < 0);
        FUZZ_CHECK(offers_find(o, kind, key) == item && offers_after(o, kind, key) == i + 1);
        if (kind == OFFER_RESOURCE)
            FUZZ_CHECK(offers_route(o, key) == item->of);
        if (kind == OFFER_TEMPLATE)
            check_template(key, uri);
    }
}

int fuzz_one(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *line = size != 0 ? memchr(text, '\n', size) : NULL;
    struct span first = {text, line != NULL ? (size_t)(line - text) : size};
    struct span uri = {"x://a", 5};
    struct registry_tool r = {
        .name = SPAN("@s"),
        .definition = first,
        .policy = SPAN("{\"capabilities\":{\"resources\":{},\"prompts\":{}}}"),
    };
    struct offers *o = offers_new();

    if (line != NULL)
        uri = (struct span){line + 1, size - first.n - 1};
    if (size <= 65536 && first.n != 0) {
        offers_add(o, &r);
        offers_sort(o);
        for (int kind = 0; kind < OFFER_KINDS; kind++)
            check_list(o, (enum offer_kind)kind, uri);
        (void)offers_route(o, uri);
    }
    offers_free(o);
    if (first.n != 0)
        check_template(first, uri);
    return 0;
}
