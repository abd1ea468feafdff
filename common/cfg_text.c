#include "common/cfg_text.h"

enum { WIDTH = 80, INDENT = 6 };
enum { BUILTIN_CONFIG, BUILTIN_DOCS };

const struct cfg_row cfg_builtin[] = {
    {"config", CFG_TEXT, 0, NULL, 1, 0, NULL,
     "a JSON file of options: one object whose members are named like the flags, without --"},
    {"docs", CFG_TEXT, 0, NULL, 1, 0, NULL,
     "print a page of the documentation, as Markdown, and exit: "},
    {"help", CFG_BOOL, 0, NULL, 0, 0, NULL, "print this and exit"},
    {"version", CFG_BOOL, 0, NULL, 0, 0, NULL, "print the version and exit"},
};
const size_t cfg_builtin_count = sizeof(cfg_builtin) / sizeof(cfg_builtin[0]);

static const char *const value_names[] = {
    [CFG_TEXT] = "TEXT", [CFG_TIME] = "TIME", [CFG_SIZE] = "SIZE",    [CFG_COUNT] = "NUMBER",
    [CFG_RATE] = "RATE", [CFG_BOOL] = "",     [CFG_LIST] = "A,B,...",
};

static const char *value_of(const struct cfg_row *row)
{
    if (row == &cfg_builtin[BUILTIN_CONFIG])
        return "FILE";
    if (row == &cfg_builtin[BUILTIN_DOCS])
        return "PAGE";
    return row->choices != NULL ? row->choices : value_names[row->type];
}

/* Text in lines of at most WIDTH, each indented. */
static void add_wrapped(struct buf *out, struct span text)
{
    while (text.n != 0) {
        size_t n = text.n < WIDTH - INDENT ? text.n : WIDTH - INDENT;

        while (n < text.n && n > 1 && text.p[n] != ' ')
            n--;
        buf_addf(out, "%*s%.*s\n", INDENT, "", (int)n, text.p);
        n += n < text.n && text.p[n] == ' ';
        text.p += n;
        text.n -= n;
    }
}

/* "; from 1s to 1h", "; at most 1000", or nothing. */
static void add_bounds(struct buf *out, const struct cfg_row *row)
{
    enum cfg_unit unit = cfg_row_unit(row);

    if (row->type == CFG_TEXT || row->type == CFG_LIST || row->type == CFG_BOOL)
        return;
    if (row->min != 0) {
        buf_adds(out, row->max != 0 ? "; from " : "; at least ");
        cfg_add_number(out, unit, row->min);
    }
    if (row->max != 0) {
        buf_adds(out, row->min != 0 ? " to " : "; at most ");
        cfg_add_number(out, unit, row->max);
    }
}

void cfg_add_pages(struct buf *out, const struct cfg *c)
{
    buf_adds(out, "config, events, metrics");
    for (const struct cfg_page *p = c->pages; p != NULL && p->name != NULL; p++)
        buf_addf(out, ", %s", p->name);
}

/* The row's help, which of --docs goes on with the program's pages. */
static void add_what(struct buf *out, const struct cfg *c, const struct cfg_row *row)
{
    buf_adds(out, row->help);
    if (row == &cfg_builtin[BUILTIN_DOCS])
        cfg_add_pages(out, c);
}

static void help_row(struct buf *out, const struct cfg *c, const struct cfg_row *row)
{
    const char *value = value_of(row);
    struct buf text;

    buf_addf(out, "  --%s%s%s\n", row->name, value[0] != '\0' ? " " : "", value);
    buf_init(&text, 4096);
    add_what(&text, c, row);
    if (row->def != NULL)
        buf_addf(&text, " (default: %s)", row->def);
    add_wrapped(out, buf_span(&text));
    buf_fini(&text);
}

void cfg_help(struct buf *out, const struct cfg *c)
{
    buf_addf(out, "%s - %s\n\nusage: %s [OPTION...]%s%s\n\n", c->program, c->summary, c->program,
             c->rest != NULL ? " " : "", c->rest != NULL ? c->rest : "");
    if (c->hint != NULL)
        buf_addf(out, "%s\n\n", c->hint);
    for (size_t i = 0; i < c->count; i++)
        help_row(out, c, &c->rows[i]);
    for (size_t i = 0; i < cfg_builtin_count; i++)
        help_row(out, c, &cfg_builtin[i]);
    buf_adds(out,
             "\nTIME is written 500ms, 10s, 5m, 24h or 7d; SIZE 512, 64k, 16m or 1g; RATE 5/s,\n"
             "300/m or 10/h. An option without a value is on; --NAME=off turns it off.\n\n"
             "Each option can also stand in the environment, --max-ttl as ERRAND_MAX_TTL, and\n"
             "in the --config file, as \"max-ttl\". A flag beats the environment, which beats\n"
             "the file.\n");
}

/* Table cells cannot hold a bare |. */
static void add_cell(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

static void docs_row(struct buf *out, const struct cfg *c, const struct cfg_row *row,
                     bool has_variable)
{
    const char *value = value_of(row);
    struct buf what;

    buf_addf(out, "| `--%s%s", row->name, value[0] != '\0' ? " " : "");
    add_cell(out, value);
    buf_adds(out, "` | ");
    if (has_variable) {
        buf_addc(out, '`');
        cfg_row_variable(out, row);
        buf_addc(out, '`');
    }
    buf_addf(out, row->def != NULL && row->def[0] != '\0' ? " | `%s` | " : " | %s | ",
             row->def != NULL ? row->def : "");
    buf_init(&what, 4096);
    add_what(&what, c, row);
    add_cell(out, what.p);
    buf_fini(&what);
    add_bounds(out, row);
    buf_adds(out, " |\n");
}

void cfg_docs(struct buf *out, const struct cfg *c)
{
    buf_addf(out, "## %s\n\nIt %s.\n\n| option | variable | default | what |\n|---|---|---|---|\n",
             c->program, c->summary);
    for (size_t i = 0; i < c->count; i++)
        docs_row(out, c, &c->rows[i], true);
    for (size_t i = 0; i < cfg_builtin_count; i++)
        docs_row(out, c, &cfg_builtin[i], i == BUILTIN_CONFIG);
    buf_addc(out, '\n');
}
