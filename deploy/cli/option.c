#include "deploy/cli/option.h"

#include <string.h>

/* The commands that a help names, without the colon; {NULL, 0} when it is for all. */
static struct span owners_of(const char *help)
{
    const char *colon = strstr(help, ": ");

    if (colon == NULL || strncmp(help, "client commands", 15) == 0 ||
        strncmp(help, "operator commands", 17) == 0)
        return (struct span){NULL, 0};
    return (struct span){help, (size_t)(colon - help)};
}

/* What stands before the next separator, which is taken off too. */
static struct span cut(struct span *text, const char *separator)
{
    size_t n = strlen(separator);
    const char *at = memmem(text->p, text->n, separator, n);
    struct span piece = {text->p, at != NULL ? (size_t)(at - text->p) : text->n};
    size_t taken = piece.n + (at != NULL ? n : 0);

    *text = (struct span){text->p + taken, text->n - taken};
    return piece;
}

static bool has_option(const struct conf *c, struct span word)
{
    const struct cfg_row *row =
        cfg_row_find(conf_table.rows, conf_table.count, (struct span){word.p + 2, word.n - 2});

    return row != NULL && cfg_given(&conf_table, c, row->name);
}

static bool is_owner(const struct conf *c, struct span owner, char **rest, size_t count)
{
    for (size_t i = 0; owner.n > 0;) {
        struct span word = cut(&owner, " ");

        if (word.p[0] == '-' ? !has_option(c, word) : i == count || !span_is(word, rest[i]))
            return false;
        i += word.p[0] != '-';
    }
    return true;
}

static bool fits(const struct conf *c, struct span owners, char **rest, size_t count)
{
    while (owners.n > 0)
        if (is_owner(c, cut(&owners, ", "), rest, count))
            return true;
    return false;
}

bool option_check(const struct conf *c, char **rest, size_t count, struct buf *why)
{
    if (count == 0 || strcmp(rest[0], "help") == 0)
        return true;
    for (size_t i = 0; i < conf_table.count; i++) {
        struct span owners = owners_of(conf_table.rows[i].help);

        if (c->base.from[i] != CFG_FROM_FLAG || owners.n == 0 || fits(c, owners, rest, count))
            continue;
        buf_addf(why, "--%s is for %.*s: leave it out", conf_table.rows[i].name, (int)owners.n,
                 owners.p);
        return false;
    }
    return true;
}
