/* errand key: API keys. A new key is printed once, as the last line; Redis keeps its hash. */
#include "common/clock.h"
#include "common/seal.h"
#include "common/store_key.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/ops.h"
#include "deploy/cli/say.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 16 << 20 };

static bool name_is_good(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@:-");

    return n > 0 && name[n] == '\0';
}

/* Words separated by blanks or commas, written with one blank between; false: one is not known. */
static bool read_scopes(const char *text, struct buf *out)
{
    static const char *const known[] = {"tools:call", "tasks:read", "admin"};

    while (*(text += strspn(text, " ,")) != '\0') {
        struct span word = {text, strcspn(text, " ,")};
        bool ok = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            ok = ok || span_is(word, known[i]);
        if (!ok)
            return false;
        if (out->n > 0)
            buf_addc(out, ' ');
        buf_add_span(out, word);
        text += word.n;
    }
    return buf_ok(out);
}

struct making {
    struct ops *o;
    const struct conf *c;
    char *key; /* the new one, to be printed */
    enum err e;
};

static void on_changed(void *arg, enum err e, const struct apikey *k)
{
    struct making *m = arg;

    (void)k;
    m->e = e;
    ops_answer(m->o, e == ERR_EXISTS || e == ERR_NOT_FOUND ? ERR_OK : e);
}

/* --- new --- */

static void add_time_or_null(struct buf *out, uint64_t ms)
{
    if (ms == 0) {
        buf_adds(out, "null");
        return;
    }
    buf_addc(out, '"');
    buf_add_time(out, ms);
    buf_addc(out, '"');
}

static void print_json(const struct making *m, const struct apikey *k, struct buf *out)
{
    buf_adds(out, "{\"name\":");
    buf_add_json(out, k->name);
    buf_adds(out, ",\"scopes\":");
    buf_add_json(out, k->scopes);
    buf_addf(out, ",\"admin\":%s,\"expires\":", k->admin ? "true" : "false");
    add_time_or_null(out, k->expires_ms);
    if (m->c->rotate) {
        buf_adds(out, ",\"olderUntil\":");
        add_time_or_null(out, k->older_ms);
    }
    buf_addf(out, ",\"key\":\"%s\"}", m->key);
}

static void print_text(const struct making *m, const struct apikey *k, struct buf *out)
{
    buf_addf(out, "The key \"%s\" may: %.*s%s. It is good ", m->c->name, (int)k->scopes.n,
             k->scopes.p, k->admin ? " (and everything an administrator may)" : "");
    if (k->expires_ms != 0) {
        buf_adds(out, "until ");
        buf_add_time(out, k->expires_ms);
    } else {
        buf_adds(out, "for ever");
    }
    if (m->c->rotate && k->older_ms != 0) {
        buf_adds(out, ", the one before it until ");
        buf_add_time(out, k->older_ms);
    } else if (m->c->rotate) {
        buf_adds(out, ", the one before it no more");
    }
    buf_addf(out, ", and is shown only here:\n%s", m->key);
}

static void print_new(const struct making *m, const struct apikey *k)
{
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (m->c->json)
        print_json(m, k, &out);
    else
        print_text(m, k, &out);
    say_out(&out);
    buf_wipe(&out);
}

static void on_rotated(void *arg, enum err e, const struct apikey *k)
{
    if (e == ERR_OK)
        print_new(arg, k);
    on_changed(arg, e, k);
}

static int add(struct making *m, struct apikey *k, struct span hash)
{
    int status;

    ops_expect(m->o);
    apikey_add(m->o->store, k, hash, on_changed, m);
    status = ops_wait(m->o);
    if (status == EXIT_OK && m->e == ERR_EXISTS)
        return complain(EXIT_FAILED,
                        "there is a key \"%s\" already; add --rotate for a further one in its "
                        "place, or revoke it first",
                        m->c->name);
    if (status == EXIT_OK)
        print_new(m, k);
    return status;
}

/* What was not said stays as it is. */
static int rotate(struct making *m, struct apikey *k, struct span hash)
{
    const struct conf *c = m->c;
    int status;

    if (!cfg_given(&conf_table, c, "scopes") && !cfg_given(&conf_table, c, "admin"))
        k->scopes = (struct span){NULL, 0};
    if (!cfg_given(&conf_table, c, "expires"))
        k->expires_ms = APIKEY_AS_BEFORE;
    ops_expect(m->o);
    apikey_rotate(m->o->store, k, hash, c->overlap, on_rotated, m);
    status = ops_wait(m->o);
    if (status == EXIT_OK && m->e == ERR_NOT_FOUND)
        return complain(EXIT_FAILED, "there is no key \"%s\" yet; leave out --rotate", c->name);
    return status;
}

static int make(struct ops *o, const struct conf *c, const char *scopes)
{
    char key[SEAL_KEY_TEXT_LEN + 1];
    char hash[SEAL_HASH_LEN + 1];
    struct making m = {.o = o, .c = c, .key = key};
    struct apikey k = {.name = span_of(c->name),
                       .scopes = span_of(scopes),
                       .admin = c->admin,
                       .expires_ms = c->expires > 0 ? clock_wall_ms() + c->expires : 0};
    int status;

    seal_new_key(key);
    seal_key_hash(hash, store_secret(o->store), span_of(key));
    status = c->rotate ? rotate(&m, &k, span_of(hash)) : add(&m, &k, span_of(hash));
    seal_wipe(key, sizeof(key));
    return status;
}

static int key_new(const struct conf *c)
{
    struct buf scopes;
    struct ops o;
    int status;

    buf_init(&scopes, 256);
    buf_adds(&scopes, "");
    if (!read_scopes(c->scopes, &scopes)) {
        status = complain(EXIT_USAGE,
                          "--scopes: \"%.64s\" has a scope that there is not; write "
                          "tools:call, tasks:read or admin",
                          c->scopes);
    } else if (!ops_open(&o, c, !c->rotate)) {
        status = EXIT_FAILED;
    } else {
        status = make(&o, c, scopes.p);
        ops_close(&o);
    }
    buf_fini(&scopes);
    return status;
}

/* --- revoke and list --- */

static int key_revoke(const struct conf *c)
{
    struct making m;
    struct ops o;
    int status;

    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    m = (struct making){.o = &o};
    ops_expect(&o);
    apikey_revoke(o.store, span_of(c->name), on_changed, &m);
    status = ops_wait(&o);
    if (status == EXIT_OK && m.e == ERR_NOT_FOUND)
        status =
            complain(EXIT_FAILED, "there is no key \"%s\"; errand key list shows them", c->name);
    ops_close(&o);
    return status;
}

struct listing {
    struct ops *o;
    struct table table;
    struct buf json;
    size_t count;
};

static void add_time(struct table *t, uint64_t ms, const char *none)
{
    struct buf text;

    buf_init(&text, 64);
    if (ms != 0)
        buf_add_time(&text, ms);
    else
        buf_adds(&text, none);
    table_adds(t, text.p);
    buf_fini(&text);
}

static void add_key(struct listing *l, const struct apikey *k)
{
    table_add(&l->table, k->name);
    table_adds(&l->table, k->admin ? "yes" : "no");
    table_add(&l->table, k->scopes);
    add_time(&l->table, k->created_ms, "-");
    add_time(&l->table, k->expires_ms, "never");
    add_time(&l->table, k->older_ms, "-");
    buf_adds(&l->json, l->count++ == 0 ? "[{\"name\":" : ",{\"name\":");
    buf_add_json(&l->json, k->name);
    buf_addf(&l->json, ",\"admin\":%s,\"scopes\":", k->admin ? "true" : "false");
    buf_add_json(&l->json, k->scopes);
    buf_adds(&l->json, ",\"created\":\"");
    buf_add_time(&l->json, k->created_ms);
    buf_adds(&l->json, "\",\"expires\":");
    add_time_or_null(&l->json, k->expires_ms);
    buf_adds(&l->json, ",\"olderUntil\":");
    add_time_or_null(&l->json, k->older_ms);
    buf_addc(&l->json, '}');
}

static void on_list(void *arg, enum err e, const struct apikey *keys, size_t count)
{
    struct listing *l = arg;

    for (size_t i = 0; i < count; i++)
        add_key(l, &keys[i]);
    ops_answer(l->o, e);
}

static int key_list(const struct conf *c)
{
    struct ops o;
    struct listing l = {.o = &o};
    int status;

    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    buf_init(&l.json, TEXT_MAX);
    table_init(&l.table, 6);
    table_adds(&l.table, "NAME");
    table_adds(&l.table, "ADMIN");
    table_adds(&l.table, "SCOPES");
    table_adds(&l.table, "CREATED");
    table_adds(&l.table, "EXPIRES");
    table_adds(&l.table, "OLDER UNTIL");
    ops_expect(&o);
    apikey_list(o.store, on_list, &l);
    status = ops_wait(&o);
    buf_adds(&l.json, l.count == 0 ? "[]" : "]");
    if (status == EXIT_OK && c->json)
        say_out(&l.json);
    else if (status == EXIT_OK)
        table_print(&l.table);
    buf_fini(&l.table.text);
    buf_fini(&l.json);
    ops_close(&o);
    return status;
}

int cmd_key(const struct conf *c, char **args, size_t count)
{
    bool is_list = strcmp(args[0], "list") == 0;
    bool is_new = strcmp(args[0], "new") == 0;

    (void)count;
    if (!is_list && !is_new && strcmp(args[0], "revoke") != 0)
        return complain(EXIT_USAGE, "key: \"%.64s\" is not one of new, list and revoke", args[0]);
    if (is_list)
        return key_list(c);
    if (c->name == NULL)
        return complain(EXIT_USAGE, "key %s: it needs --name NAME", args[0]);
    if (!name_is_good(c->name))
        return complain(EXIT_USAGE,
                        "--name: \"%.64s\" is no name; write letters, digits and any "
                        "of _ . @ : -",
                        c->name);
    if (is_new && strcmp(c->name, PRINCIPAL_ANONYMOUS) == 0)
        return complain(EXIT_USAGE,
                        "--name: \"%s\" is what callers without a key are called, and "
                        "their tasks would be its own; write another",
                        c->name);
    return is_new ? key_new(c) : key_revoke(c);
}
