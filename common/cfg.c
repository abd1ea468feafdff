#include "common/cfg.h"

#include "common/cfg_file.h"
#include "common/event.h"
#include "common/mem.h"
#include "common/metric.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_MAX = 1 << 20 };

/* The command line, read twice: once for what it asks of us, once for its values. */
struct walk {
    const struct cfg *c;
    char **argv;
    int argc;
    int at;
    bool flags_ended; /* by -- */
    const struct cfg_row *row;
    const char *value;
};

enum item { ITEM_END, ITEM_REST, ITEM_OPTION, ITEM_BAD };

static struct walk walk_start(const struct cfg *c, int argc, char **argv)
{
    return (struct walk){.c = c, .argv = argv, .argc = argc, .at = 1};
}

static enum item refuse_flag(const struct walk *w, const char *flag, struct buf *why)
{
    struct span name = {flag, strcspn(flag, "=")};
    const char *near = NULL;

    buf_add_span(why, name);
    buf_addf(why, ": %s has no such option", w->c->program);
    if (name.n > 2)
        near = cfg_row_near(w->c, (struct span){name.p + 2, name.n - 2});
    if (near != NULL)
        buf_addf(why, "; did you mean --%s?", near);
    else
        buf_adds(why, "; --help prints them all");
    return ITEM_BAD;
}

static bool is_bool_word(const char *text)
{
    return strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
}

/* The value of the flag that was just read, after its = or as the next argument. */
static enum item take_value(struct walk *w, const char *flag, struct buf *why)
{
    const char *equals = strchr(flag, '=');
    const char *next = w->at < w->argc ? w->argv[w->at] : NULL;

    if (equals != NULL) {
        w->value = equals + 1;
        return ITEM_OPTION;
    }
    if (w->row->type == CFG_BOOL) {
        /* "--facade off" is clear only where no argument could be meant. */
        bool word = next != NULL && w->c->rest == NULL && is_bool_word(next);

        w->value = word ? next : "on";
        w->at += word;
        return ITEM_OPTION;
    }
    if (next == NULL || strncmp(next, "--", 2) == 0) {
        buf_addf(why, "--%s: it needs a value; write --%s VALUE or --%s=VALUE", w->row->name,
                 w->row->name, w->row->name);
        return ITEM_BAD;
    }
    w->value = next;
    w->at++;
    return ITEM_OPTION;
}

static enum item take_rest(struct walk *w, const char *arg, struct buf *why)
{
    if (w->c->rest == NULL) {
        cfg_add_quoted(why, arg);
        buf_addf(why, ": %s takes options only; --help prints them", w->c->program);
        return ITEM_BAD;
    }
    w->value = arg;
    return ITEM_REST;
}

static enum item walk_next(struct walk *w, struct buf *why)
{
    const char *arg;
    struct span name;

    if (w->at >= w->argc)
        return ITEM_END;
    arg = w->argv[w->at++];
    if (w->flags_ended || arg[0] != '-' || arg[1] == '\0')
        return take_rest(w, arg, why);
    if (strcmp(arg, "--") == 0) {
        w->flags_ended = true;
        return walk_next(w, why);
    }
    if (strcmp(arg, "-h") == 0)
        arg = "--help";
    if (arg[1] != '-')
        return refuse_flag(w, arg, why);
    name = (struct span){arg + 2, strcspn(arg + 2, "=")};
    w->row = cfg_row_find(w->c->rows, w->c->count, name);
    if (w->row == NULL)
        w->row = cfg_row_find(cfg_builtin, cfg_builtin_count, name);
    if (w->row == NULL)
        return refuse_flag(w, arg, why);
    return take_value(w, arg, why);
}

static bool is_builtin(const struct cfg_row *row, const char *name)
{
    return row >= cfg_builtin && row < cfg_builtin + cfg_builtin_count &&
           strcmp(row->name, name) == 0;
}

static void print(const struct buf *text)
{
    assert(buf_ok(text));
    (void)fwrite(text->p, 1, text->n, stdout);
    (void)fflush(stdout);
}

/* The page of that name, or NULL. cfg_docs is not among them, for it wants the table. */
static void (*find_page(const struct cfg *c, const char *name))(struct buf *out)
{
    static const struct cfg_page common[] = {{"events", event_docs}, {"metrics", metric_docs}};

    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        if (strcmp(name, common[i].name) == 0)
            return common[i].write;
    for (const struct cfg_page *p = c->pages; p != NULL && p->name != NULL; p++)
        if (strcmp(name, p->name) == 0)
            return p->write;
    return NULL;
}

static enum cfg_outcome print_docs(const struct cfg *c, const char *name, struct buf *why)
{
    void (*write)(struct buf * out) = find_page(c, name);
    struct buf out;

    if (write == NULL && strcmp(name, "config") != 0) {
        buf_adds(why, "--docs: ");
        cfg_add_quoted(why, name);
        buf_adds(why, " is not one of ");
        cfg_add_pages(why, c);
        return CFG_BAD;
    }
    buf_init(&out, PRINT_MAX);
    if (write != NULL)
        write(&out);
    else
        cfg_docs(&out, c);
    print(&out);
    buf_fini(&out);
    return CFG_DONE;
}

static enum cfg_outcome print_help(const struct cfg *c)
{
    struct buf out;

    buf_init(&out, PRINT_MAX);
    cfg_help(&out, c);
    print(&out);
    buf_fini(&out);
    return CFG_DONE;
}

static enum cfg_outcome print_version(const struct cfg *c)
{
    (void)printf("%s %s\n", c->program, ERRAND_VERSION);
    (void)fflush(stdout);
    return CFG_DONE;
}

/* What one option asks of us rather than of the program; CFG_READY: nothing. */
static enum cfg_outcome read_asked(const struct walk *w, const char **file, struct buf *why)
{
    if (is_builtin(w->row, "help"))
        return print_help(w->c);
    if (is_builtin(w->row, "docs"))
        return print_docs(w->c, w->value, why);
    if (is_builtin(w->row, "version"))
        return print_version(w->c);
    if (is_builtin(w->row, "config"))
        *file = w->value;
    return CFG_READY;
}

/* The first walk: every mistake of form, and what is asked of us. */
static enum cfg_outcome read_builtin(const struct cfg *c, struct cfg_base *base, int argc,
                                     char **argv, struct buf *why)
{
    struct walk w = walk_start(c, argc, argv);
    const char *file = getenv("ERRAND_CONFIG");
    enum item item;

    while ((item = walk_next(&w, why)) != ITEM_END) {
        enum cfg_outcome outcome = CFG_READY;

        if (item == ITEM_BAD)
            return CFG_BAD;
        if (item == ITEM_OPTION)
            outcome = read_asked(&w, &file, why);
        if (outcome != CFG_READY)
            return outcome;
    }
    if (file != NULL && file[0] != '\0')
        base->file = mem_strdup(file);
    return CFG_READY;
}

static void read_defaults(const struct cfg *c, void *conf)
{
    struct buf why;

    buf_init(&why, 1024);
    for (size_t i = 0; i < c->count; i++) {
        bool ok = c->rows[i].def == NULL || cfg_row_set(&c->rows[i], conf, c->rows[i].def, &why);

        assert(ok && "a default of conf.def does not pass its own row");
    }
    buf_fini(&why);
}

/* One value from a place that may beat what is there. */
static bool set(const struct cfg *c, void *conf, const struct cfg_row *row, enum cfg_from from,
                const char *text, struct buf *why)
{
    struct cfg_base *base = conf;

    if (row->type == CFG_LIST && base->from[row - c->rows] != from)
        cfg_row_clear(row, conf);
    base->from[row - c->rows] = (unsigned char)from;
    cfg_place(why, c, conf, row->name);
    buf_adds(why, ": ");
    if (!cfg_row_set(row, conf, text, why))
        return false;
    buf_reset(why);
    return true;
}

static bool read_environment(const struct cfg *c, void *conf, struct buf *why)
{
    bool ok = true;

    for (size_t i = 0; i < c->count && ok; i++) {
        struct buf name;
        const char *value;

        buf_init(&name, 256);
        cfg_row_variable(&name, &c->rows[i]);
        value = getenv(name.p);
        if (value != NULL && value[0] != '\0')
            ok = set(c, conf, &c->rows[i], CFG_FROM_ENV, value, why);
        buf_fini(&name);
    }
    return ok;
}

static bool read_flags(struct walk *w, void *conf, struct cfg_rest *rest, struct buf *why)
{
    enum item item;

    while ((item = walk_next(w, why)) != ITEM_END) {
        if (item == ITEM_REST) {
            assert(rest != NULL);
            rest->items[rest->n++] = w->argv[w->at - 1];
            continue;
        }
        assert(item == ITEM_OPTION); /* the first walk has met every mistake of form */
        if (is_builtin(w->row, "config"))
            continue;
        if (!set(w->c, conf, w->row, CFG_FROM_FLAG, w->value, why))
            return false;
    }
    return true;
}

enum cfg_outcome cfg_read(const struct cfg *c, void *conf, int argc, char **argv,
                          struct cfg_rest *rest, struct buf *why)
{
    struct cfg_base *base = conf;
    struct walk w = walk_start(c, argc, argv);
    enum cfg_outcome outcome;

    assert(c->count <= CFG_ROWS_MAX);
    assert(rest != NULL || c->rest == NULL);
    if (rest != NULL)
        rest->n = 0;
    outcome = read_builtin(c, base, argc, argv, why);
    if (outcome != CFG_READY)
        return outcome;
    read_defaults(c, conf);
    if (base->file != NULL && !cfg_file_read(c, conf, base->file, why))
        return CFG_BAD;
    if (!read_environment(c, conf, why) || !read_flags(&w, conf, rest, why))
        return CFG_BAD;
    return CFG_READY;
}

void cfg_fini(const struct cfg *c, void *conf)
{
    struct cfg_base *base = conf;

    for (size_t i = 0; i < c->count; i++)
        cfg_row_clear(&c->rows[i], conf);
    free(base->file);
    *base = (struct cfg_base){.file = NULL};
}

/* Only names of the table are asked for: another is a slip of ours. */
static const struct cfg_row *find(const struct cfg *c, const char *name)
{
    const struct cfg_row *row = cfg_row_find(c->rows, c->count, span_of(name));

    assert(row != NULL);
    return row;
}

bool cfg_given(const struct cfg *c, const void *conf, const char *name)
{
    const struct cfg_base *base = conf;

    return base->from[find(c, name) - c->rows] != CFG_FROM_DEFAULT;
}

void cfg_place(struct buf *out, const struct cfg *c, const void *conf, const char *name)
{
    const struct cfg_base *base = conf;
    const struct cfg_row *row = find(c, name);
    unsigned from = base->from[row - c->rows];

    if (from == CFG_FROM_ENV)
        cfg_row_variable(out, row);
    else if (from == CFG_FROM_FILE)
        buf_addf(out, "%s: \"%s\"", base->file, name);
    else
        buf_addf(out, "--%s", name);
}
