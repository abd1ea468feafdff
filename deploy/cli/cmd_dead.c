/* errand dead: the tasks that failed with their last attempt; list them, run them again as new
 * tasks, or drop them. */
#include "common/clock.h"
#include "common/mem.h"
#include "common/store_admin.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/ops.h"
#include "deploy/cli/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 64 << 20 };

struct letters {
    struct ops *o;
    struct table table;
    struct buf json;
    char **entries;
    size_t count;
    size_t limit;
};

static void add_letter(struct letters *l, const struct store_dead *d)
{
    uint64_t now = clock_wall_ms();
    struct buf age;

    buf_init(&age, 64);
    say_age(&age, now > d->at_ms ? now - d->at_ms : 0);
    table_add(&l->table, d->entry);
    table_add(&l->table, d->id);
    table_add(&l->table, d->tool);
    table_addf(&l->table, "%" PRIu64, d->attempts);
    table_adds(&l->table, age.p);
    table_adds(&l->table, d->expired ? "no" : "yes");
    table_add(&l->table, d->why);
    buf_fini(&age);
    buf_adds(&l->json, l->count == 0 ? "[{\"entry\":" : ",{\"entry\":");
    buf_add_json(&l->json, d->entry);
    buf_adds(&l->json, ",\"task\":");
    buf_add_json(&l->json, d->id);
    buf_adds(&l->json, ",\"tool\":");
    buf_add_json(&l->json, d->tool);
    buf_addf(&l->json, ",\"attempts\":%" PRIu64 ",\"at\":\"", d->attempts);
    buf_add_time(&l->json, d->at_ms);
    buf_addf(&l->json, "\",\"canBeRequeued\":%s,\"why\":", d->expired ? "false" : "true");
    buf_add_json(&l->json, d->why);
    buf_addc(&l->json, '}');
}

static void on_dead(void *arg, enum err e, const struct store_dead *dead, size_t count)
{
    struct letters *l = arg;

    for (size_t i = 0; i < count && l->count < l->limit; i++) {
        add_letter(l, &dead[i]);
        l->entries = mem_grow(l->entries, (l->count + 1) * sizeof(*l->entries));
        l->entries[l->count++] = mem_dup(dead[i].entry.p, dead[i].entry.n);
    }
    ops_answer(l->o, e);
}

static int read_letters(struct letters *l, struct ops *o, size_t limit)
{
    l->o = o;
    l->limit = limit;
    buf_init(&l->json, TEXT_MAX);
    table_init(&l->table, 7);
    table_adds(&l->table, "ENTRY");
    table_adds(&l->table, "TASK");
    table_adds(&l->table, "TOOL");
    table_adds(&l->table, "ATTEMPTS");
    table_adds(&l->table, "AGE");
    table_adds(&l->table, "REQUEUE");
    table_adds(&l->table, "WHY");
    for (unsigned p = 0; p < store_partitions(o->store); p++) {
        ops_expect(o);
        store_dead_list(o->store, p, (unsigned)limit, on_dead, l);
    }
    return ops_wait(o);
}

static void letters_fini(struct letters *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->entries[i]);
    free(l->entries);
    buf_fini(&l->json);
    buf_fini(&l->table.text);
}

static int list(struct ops *o)
{
    struct letters l = {.count = 0};
    int status = read_letters(&l, o, o->conf->limit);

    buf_adds(&l.json, l.count == 0 ? "[]" : "]");
    if (status == EXIT_OK && o->conf->json)
        say_out(&l.json);
    else if (status == EXIT_OK && l.count == 0)
        (void)puts("no dead letters");
    else if (status == EXIT_OK)
        table_print(&l.table);
    letters_fini(&l);
    return status;
}

typedef void verb_fn(struct store *s, struct span entry, store_requeue_fn *fn, void *arg);

struct deed {
    struct ops *o;
    const char *entry;
    int status;
};

/* One entry that cannot be done is said and does not stop the others. */
static void on_done(void *arg, enum err e, struct span id)
{
    struct deed *d = arg;

    if (e == ERR_NOT_FOUND)
        d->status = complain(EXIT_FAILED, "%s: there is no such entry", d->entry);
    else if (e == ERR_TERMINAL)
        d->status =
            complain(EXIT_FAILED, "%s: the task has expired; it can only be dropped", d->entry);
    else if (e == ERR_OK && id.n > 0)
        (void)printf("%s is task %.*s now\n", d->entry, (int)id.n, id.p);
    else if (e == ERR_OK)
        (void)printf("%s is dropped\n", d->entry);
    ops_answer(d->o, e == ERR_NOT_FOUND || e == ERR_TERMINAL ? ERR_OK : e);
}

static int do_one(struct ops *o, verb_fn *verb, const char *entry)
{
    struct deed d = {.o = o, .entry = entry};
    int status;

    ops_expect(o);
    verb(o->store, span_of(entry), on_done, &d);
    status = ops_wait(o);
    return status != EXIT_OK ? status : d.status;
}

static int do_all(struct ops *o, verb_fn *verb)
{
    struct letters l = {.count = 0};
    int status = read_letters(&l, o, 10000);
    int worst = status;

    for (size_t i = 0; status == EXIT_OK && i < l.count; i++) {
        int one = do_one(o, verb, l.entries[i]);

        worst = one > worst ? one : worst;
    }
    letters_fini(&l);
    return worst;
}

int cmd_dead(const struct conf *c, char **args, size_t count)
{
    verb_fn *verb = NULL;
    struct ops o;
    int status;

    if (count > 0 && strcmp(args[0], "requeue") == 0)
        verb = store_dead_requeue;
    else if (count > 0 && strcmp(args[0], "drop") == 0)
        verb = store_dead_drop;
    else if (count > 1 || (count > 0 && strcmp(args[0], "list") != 0))
        return complain(EXIT_USAGE, "dead: write errand dead list, requeue ENTRY or drop ENTRY");
    if (verb != NULL && count < 2)
        return complain(EXIT_USAGE, "dead: which one? errand dead list shows the entries; all "
                                    "stands for each of them");
    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    if (verb == NULL)
        status = list(&o);
    else if (strcmp(args[1], "all") == 0)
        status = do_all(&o, verb);
    else
        status = do_one(&o, verb, args[1]);
    ops_close(&o);
    return status;
}
