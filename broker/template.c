/* The places in the address where the template's beginning may end, all at once: no template makes
 * this slower than its length times that of the address. */
#include "broker/template.h"

#include <stdbool.h>
#include <string.h>

struct walk {
    struct span uri;
    bool at[TEMPLATE_URI_MAX + 1];
};

static void take_text(struct walk *w, struct span text)
{
    for (size_t i = w->uri.n + 1; i-- > 0;)
        w->at[i] =
            i >= text.n && w->at[i - text.n] && memcmp(w->uri.p + i - text.n, text.p, text.n) == 0;
}

static bool may_hold(char kind, char c)
{
    switch (kind) {
    case '+':
    case '#':
        return true;
    case '/':
    case ';':
        return strchr("?#", c) == NULL;
    case '?':
    case '&':
        return c != '#';
    default:
        return strchr("/?#", c) == NULL;
    }
}

/* kind: the operator of an expression, or 0. What begins with a character of its own may also be
 * nothing at all. */
static void take_expression(struct walk *w, char kind)
{
    bool is_optional = kind != '\0' && strchr("/.;?&#", kind) != NULL;
    bool was = false; /* the beginning could end one character ago */
    bool inside = false;

    for (size_t i = 0; i <= w->uri.n; i++) {
        char c = i > 0 ? w->uri.p[i - 1] : '\0';
        bool begins = was && (is_optional ? c == kind : may_hold(kind, c));

        inside = i > 0 && (begins || (inside && may_hold(kind, c)));
        was = w->at[i];
        w->at[i] = inside || (is_optional && was);
    }
}

/* Takes the next piece off the template; false: a brace is not closed. */
static bool take_piece(struct walk *w, struct span *rest)
{
    const char *open = memchr(rest->p, '{', rest->n);
    size_t n = open != NULL ? (size_t)(open - rest->p) : rest->n;

    if (n == 0) {
        const char *close = memchr(rest->p, '}', rest->n);

        if (close == NULL || close == rest->p + 1)
            return false;
        take_expression(w, strchr("+#/.;?&", rest->p[1]) != NULL ? rest->p[1] : '\0');
        n = (size_t)(close - rest->p) + 1;
    } else {
        take_text(w, (struct span){rest->p, n});
    }
    *rest = (struct span){rest->p + n, rest->n - n};
    return true;
}

/* Most addresses are another template's, and differ before its first expression. */
static bool may_fit(struct span template, struct span uri)
{
    const char *open = memchr(template.p, '{', template.n);
    size_t n = open != NULL ? (size_t)(open - template.p) : template.n;

    return uri.n >= n && memcmp(uri.p, template.p, n) == 0;
}

bool template_fits(struct span template, struct span uri)
{
    struct walk w;

    if (uri.n > TEMPLATE_URI_MAX || memchr(uri.p, '\0', uri.n) != NULL || !may_fit(template, uri))
        return false;
    w = (struct walk){.uri = uri, .at = {true}};
    while (template.n > 0)
        if (!take_piece(&w, &template))
            return false;
    return w.at[uri.n];
}
