#include "broker/auth.h"

#include "broker/http.h"
#include "common/clock.h"
#include "common/event.h"
#include "common/list.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/seal.h"
#include "common/store_key.h"

#include <event2/event.h>
#include <stdlib.h>
#include <strings.h>

enum {
    FRESH_MS = 10000, /* while messages reach us */
    FRESH_ALONE_MS = 500, /* while they may not: a revocation must bite within a second */
    LOOK_MS = 400, /* likewise for what is in hand */
    REMEMBERED_MAX = 10000,
};

struct known {
    struct map_node node;
    char hash[SEAL_HASH_LEN + 1];
    struct principal who;
    uint64_t at_ms;
    bool is_stale; /* keys have changed since: to be looked up again before it is used */
    bool is_asked; /* that is under way */
    struct list bound; /* requests in hand that came with it (http.h) */
};

struct auth {
    enum auth_mode mode;
    struct store *store;
    struct map known;
    uint64_t changes; /* times that keys have changed */
    struct event *look; /* NULL without keys */
    struct principal anonymous; /* once it is known: with AUTH_NONE everybody's */
};

struct lookup {
    struct auth *auth;
    auth_fn *fn; /* NULL: nobody waits for it */
    void *arg;
    uint64_t changes; /* when it was sent */
    char hash[SEAL_HASH_LEN + 1];
};

static struct known *find(const struct auth *a, const char *hash)
{
    struct map_node *node = map_find(&a->known, span_of(hash));

    return node != NULL ? MAP_OF(node, struct known, node) : NULL;
}

/* --- what is forgotten --- */

static void drop(struct auth *a, struct known *one)
{
    map_del(&a->known, &one->node);
    free(one);
}

/* The key has ended: what it has in hand is closed. */
static void end(struct auth *a, struct known *one)
{
    size_t n = http_cut(&one->bound);

    if (n > 0)
        LOG(KEY_ENDED, S("principal", one->who.name), N("count", n));
    drop(a, one);
}

static void on_found(void *arg, enum err e, const struct apikey *k);

static void look_up(struct auth *a, const char *hash, auth_fn *fn, void *arg)
{
    struct lookup *l = mem_alloc(sizeof(*l));

    *l = (struct lookup){.auth = a, .fn = fn, .arg = arg, .changes = a->changes};
    memcpy(l->hash, hash, sizeof(l->hash));
    apikey_find(a->store, span_of(l->hash), on_found, l);
}

static void ask_again(struct auth *a, struct known *one)
{
    if (one->is_asked || !store_is_ready(a->store))
        return; /* on_look() tries again */
    one->is_asked = true;
    look_up(a, one->hash, NULL, NULL);
}

static void drop_idle(void *arg, struct map_node *node)
{
    struct known *one = MAP_OF(node, struct known, node);

    if (list_empty(&one->bound))
        drop(arg, one);
}

static void forget(void *arg, struct map_node *node)
{
    struct known *one = MAP_OF(node, struct known, node);

    if (list_empty(&one->bound)) {
        drop(arg, one);
        return;
    }
    one->is_stale = true;
    ask_again(arg, one);
}

void auth_forget(struct auth *a)
{
    a->changes++;
    map_each(&a->known, forget, a);
}

static bool has_expired(const struct known *one)
{
    return one->who.expires_ms != 0 && one->who.expires_ms <= clock_wall_ms();
}

static void look_at(void *arg, struct map_node *node)
{
    struct auth *a = arg;
    struct known *one = MAP_OF(node, struct known, node);

    if (has_expired(one))
        end(a, one);
    else if (list_empty(&one->bound) && clock_mono_ms() - one->at_ms > FRESH_MS)
        drop(a, one);
    else if (!list_empty(&one->bound) && (one->is_stale || !store_is_listening(a->store)))
        ask_again(a, one);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct auth *a = arg;

    (void)fd;
    (void)what;
    map_each(&a->known, look_at, a);
}

/* --- life --- */

struct auth *auth_new(struct event_base *base, enum auth_mode mode, struct store *store)
{
    struct auth *a = mem_zalloc(sizeof(*a));
    struct timeval every = clock_timeval(LOOK_MS);

    a->mode = mode;
    a->store = store;
    map_init(&a->known);
    if (mode == AUTH_NONE)
        return a;
    a->look = event_new(base, -1, EV_PERSIST, on_look, a);
    if (a->look == NULL || event_add(a->look, &every) != 0)
        abort();
    return a;
}

static void free_known(void *arg, struct map_node *node)
{
    drop(arg, MAP_OF(node, struct known, node));
}

void auth_free(struct auth *a)
{
    map_each(&a->known, free_known, a);
    map_fini(&a->known);
    if (a->look != NULL)
        event_free(a->look);
    free(a);
}

enum auth_mode auth_mode(const struct auth *a)
{
    return a->mode;
}

static void name_principal(const struct auth *a, struct principal *p, struct span name)
{
    size_t n = name.n < PRINCIPAL_NAME_MAX ? name.n : PRINCIPAL_NAME_MAX;

    *p = (struct principal){0};
    memcpy(p->name, name.p, n);
    id_owner(p->owner, store_secret(a->store), name);
    p->partition = store_partition_of_owner(a->store, span_of(p->owner));
}

/* An installation's secret and partitions never change, so neither does this. */
static void anonymous(struct auth *a, struct principal *p)
{
    if (!a->anonymous.anonymous) {
        name_principal(a, &a->anonymous, SPAN(PRINCIPAL_ANONYMOUS));
        a->anonymous.scopes = SCOPE_TOOLS_CALL | SCOPE_TASKS_READ;
        a->anonymous.anonymous = true;
    }
    *p = a->anonymous;
}

/* An answer from before the last change may be wrong by now: it lets one request in, and is asked
 * for again. */
static struct known *learn(const struct lookup *l, const struct apikey *k)
{
    struct auth *a = l->auth;
    struct known *one = find(a, l->hash);

    if (one == NULL) {
        if (a->known.n >= REMEMBERED_MAX)
            map_each(&a->known, drop_idle, a);
        one = mem_zalloc(sizeof(*one));
        memcpy(one->hash, l->hash, sizeof(one->hash));
        list_init(&one->bound);
        map_add(&a->known, &one->node, span_of(one->hash));
    }
    name_principal(a, &one->who, k->name);
    memcpy(one->who.credential, l->hash, sizeof(one->hash));
    one->who.scopes = scopes_of(k->scopes) | (k->admin ? (unsigned)SCOPE_ADMIN : 0U);
    one->who.expires_ms = k->expires_ms;
    one->at_ms = clock_mono_ms();
    one->is_stale = l->changes != a->changes;
    one->is_asked = false;
    return one;
}

static void on_found(void *arg, enum err e, const struct apikey *k)
{
    struct lookup *l = arg;
    struct known *one;

    if (e == ERR_OK) {
        one = learn(l, k);
    } else {
        one = find(l->auth, l->hash);
        if (one != NULL)
            one->is_asked = false;
        if (one != NULL && e == ERR_NOT_FOUND)
            end(l->auth, one);
    }
    if (l->fn != NULL && e == ERR_OK)
        l->fn(l->arg, ERR_OK, &one->who);
    else if (l->fn != NULL)
        l->fn(l->arg, e == ERR_NOT_FOUND ? ERR_UNAUTHORIZED : e, NULL);
    free(l);
}

/* The remembered principal of a key, when it may still be trusted. */
static bool recall(struct auth *a, const char *hash, struct principal *who)
{
    const struct known *one = find(a, hash);
    uint64_t fresh = store_is_listening(a->store) ? FRESH_MS : FRESH_ALONE_MS;

    if (one == NULL || one->is_stale || has_expired(one) || clock_mono_ms() - one->at_ms > fresh)
        return false;
    *who = one->who;
    return true;
}

void auth_bind(struct auth *a, struct http_req *r, const struct principal *who)
{
    struct known *one = who->credential[0] != '\0' ? find(a, who->credential) : NULL;

    if (one != NULL)
        http_bind(r, &one->bound);
}

static const char *bearer(struct http_req *r)
{
    const char *value = http_header(r, "Authorization");

    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0 ||
        http_header_count(r, "Authorization") != 1)
        return NULL;
    value += 7;
    while (*value == ' ')
        value++;
    return value;
}

bool auth_check(struct auth *a, struct http_req *r, enum err *e, struct principal *who, auth_fn *fn,
                void *arg)
{
    char hash[SEAL_HASH_LEN + 1];
    const char *key;

    *e = ERR_OK;
    if (!store_is_ready(a->store)) {
        *e = ERR_UNAVAILABLE;
        return true;
    }
    if (a->mode == AUTH_NONE) {
        anonymous(a, who);
        return true;
    }
    key = bearer(r);
    if (key == NULL || !seal_key_form(span_of(key))) {
        *e = ERR_UNAUTHORIZED;
        return true;
    }
    seal_key_hash(hash, store_secret(a->store), span_of(key));
    if (recall(a, hash, who))
        return true;
    look_up(a, hash, fn, arg);
    return false;
}

const char *auth_challenge(bool invalid)
{
    return invalid ? "Bearer realm=\"errand\", error=\"invalid_token\", "
                     "error_description=\"The key is unknown, expired or revoked\""
                   : "Bearer realm=\"errand\"";
}
