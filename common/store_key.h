/* store_key.h - API keys: stored as keyed hashes, looked up by hash, never readable again. */
#pragma once

#include "common/store.h"

/* Who calls where no key is asked for: the name of no key. */
#define PRINCIPAL_ANONYMOUS "anonymous"

struct apikey {
    struct span name;
    struct span scopes; /* space separated */
    bool admin;
    uint64_t created_ms;
    uint64_t expires_ms; /* 0: never */
    uint64_t older_ms; /* reading only: when the last key of that name before it ends; 0: it has */
};
#define APIKEY_AS_BEFORE UINT64_MAX

typedef void apikey_fn(void *arg, enum err e, const struct apikey *k);
typedef void apikey_list_fn(void *arg, enum err e, const struct apikey *keys, size_t count);

/* ERR_EXISTS when the name is taken. hash: seal_key_hash(). Tells all brokers (STORE_EV_KEYS). */
void apikey_add(struct store *s, const struct apikey *k, struct span hash, apikey_fn *fn,
                void *arg);
/* Another key of that name; those before it go on for the overlap. scopes {NULL, 0}: they and admin
 * stay as they are. expires_ms APIKEY_AS_BEFORE: after as long a life as the one before was given.
 * fn gets the new one; ERR_NOT_FOUND when that name has none. Tells all brokers. */
void apikey_rotate(struct store *s, const struct apikey *k, struct span hash, uint64_t overlap_ms,
                   apikey_fn *fn, void *arg);
void apikey_find(struct store *s, struct span hash, apikey_fn *fn,
                 void *arg); /* ERR_NOT_FOUND; expired too */
void apikey_list(struct store *s, apikey_list_fn *fn, void *arg);
/* All keys of that name. */
void apikey_revoke(struct store *s, struct span name, apikey_fn *fn, void *arg);
