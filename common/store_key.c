#include "common/store_key.h"

#include "common/mem.h"
#include "common/store_args.h"
#include "common/store_inside.h"
#include "common/store_reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum { KEY_FIELDS = 6 };

struct op {
    struct store *s;
    const char *name;
    apikey_fn *one;
    apikey_list_fn *many;
    void *arg;
};

static struct op *op_new(struct store *s, const char *name, void *arg)
{
    struct op *o = mem_zalloc(sizeof(*o));

    o->s = s;
    o->name = name;
    o->arg = arg;
    return o;
}

static bool read_key(struct redisReply *const *f, struct apikey *k)
{
    k->name = reply_span(f[0]);
    k->scopes = reply_span(f[1]);
    k->admin = reply_flag(f[2]);
    return k->name.n > 0 && reply_u64(f[3], &k->created_ms) && reply_u64(f[4], &k->expires_ms) &&
           reply_u64(f[5], &k->older_ms);
}

static void end_one(struct op *o, enum err e, const struct apikey *k)
{
    o->one(o->arg, e, e == ERR_OK ? k : NULL);
    free(o);
}

static void on_added(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && reply_is(r, "EXISTS"))
        e = ERR_EXISTS;
    else if (e == ERR_OK && !reply_is(r, "OK"))
        e = store_bad_answer(o->s, o->name);
    end_one(o, e, NULL);
}

void apikey_add(struct store *s, const struct apikey *k, struct span hash, apikey_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "key_add", STORE_GLOBAL);
    struct op *o = op_new(s, "key_add", arg);

    o->one = fn;
    args_key(a, "key:", k->name, "");
    args_key(a, "kh:", hash, "");
    args_key(a, "keys", (struct span){NULL, 0}, "");
    args_add(a, k->name);
    args_add(a, hash);
    args_add(a, k->scopes);
    args_flag(a, k->admin);
    args_u64(a, k->expires_ms);
    store_args_send(a, on_added, o);
}

static void on_rotated(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct apikey k = {.created_ms = 0};

    if (e == ERR_OK && reply_is(r, "NONE"))
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && reply_is(r, "EXISTS"))
        e = ERR_EXISTS;
    else if (e == ERR_OK && (!reply_array(r, KEY_FIELDS) || !read_key(r->element, &k)))
        e = store_bad_answer(o->s, o->name);
    end_one(o, e, &k);
}

void apikey_rotate(struct store *s, const struct apikey *k, struct span hash, uint64_t overlap_ms,
                   apikey_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "key_rotate", STORE_GLOBAL);
    struct op *o = op_new(s, "key_rotate", arg);

    o->one = fn;
    args_key(a, "key:", k->name, "");
    args_key(a, "kh:", hash, "");
    args_add(a, k->name);
    args_add(a, hash);
    args_add(a, k->scopes);
    args_flag(a, k->admin);
    if (k->expires_ms == APIKEY_AS_BEFORE)
        args_text(a, "");
    else
        args_u64(a, k->expires_ms);
    args_u64(a, overlap_ms);
    store_args_send(a, on_rotated, o);
}

static void on_found(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct apikey k = {.created_ms = 0};

    if (e == ERR_OK && r->type == REDIS_REPLY_NIL)
        e = ERR_NOT_FOUND;
    else if (e == ERR_OK && (!reply_array(r, KEY_FIELDS) || !read_key(r->element, &k)))
        e = store_bad_answer(o->s, o->name);
    end_one(o, e, &k);
}

void apikey_find(struct store *s, struct span hash, apikey_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "key_find", STORE_GLOBAL);
    struct op *o = op_new(s, "key_find", arg);

    o->one = fn;
    args_key(a, "kh:", hash, "");
    args_add(a, hash);
    store_args_send(a, on_found, o);
}

static void on_list(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;
    struct apikey *keys = NULL;
    size_t n = 0;

    if (e == ERR_OK && (!reply_array(r, 0) || r->elements % KEY_FIELDS != 0))
        e = store_bad_answer(o->s, o->name);
    if (e == ERR_OK)
        keys = mem_zalloc((r->elements / KEY_FIELDS + 1) * sizeof(*keys));
    for (size_t i = 0; e == ERR_OK && i < r->elements; i += KEY_FIELDS)
        if (!read_key(r->element + i, &keys[n++]))
            e = store_bad_answer(o->s, o->name);
    o->many(o->arg, e, keys, e == ERR_OK ? n : 0);
    free(keys);
    free(o);
}

void apikey_list(struct store *s, apikey_list_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "key_list", STORE_GLOBAL);
    struct op *o = op_new(s, "key_list", arg);

    o->many = fn;
    args_key(a, "keys", (struct span){NULL, 0}, "");
    store_args_send(a, on_list, o);
}

static void on_revoked(void *arg, enum err e, const struct redisReply *r)
{
    struct op *o = arg;

    if (e == ERR_OK && !reply_flag(r))
        e = ERR_NOT_FOUND;
    end_one(o, e, NULL);
}

void apikey_revoke(struct store *s, struct span name, apikey_fn *fn, void *arg)
{
    struct store_args *a = store_args(s, "key_revoke", STORE_GLOBAL);
    struct op *o = op_new(s, "key_revoke", arg);

    o->one = fn;
    args_key(a, "key:", name, "");
    args_key(a, "keys", (struct span){NULL, 0}, "");
    args_add(a, name);
    store_args_send(a, on_revoked, o);
}
