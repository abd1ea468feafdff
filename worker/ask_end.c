#include "worker/ask_inside.h"

#include "common/id.h"
#include "common/mem.h"
#include "worker/ask_answer.h"
#include "worker/ask_host.h"
#include "worker/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 20, WHY_MAX = 1024, ANSWER_MAX = 8192 };

/* How often this attempt has asked that, this time included. */
static unsigned count_use(struct asking *k, const char *digest)
{
    for (size_t i = 0; i < k->used_n; i++)
        if (strcmp(k->used[i].digest, digest) == 0)
            return ++k->used[i].times;
    k->used = mem_grow(k->used, (k->used_n + 1) * sizeof(*k->used));
    (void)snprintf(k->used[k->used_n].digest, sizeof(k->used[0].digest), "%s", digest);
    k->used[k->used_n].times = 1;
    return k->used[k->used_n++].times;
}

/* A runner's own name for its question, if it can be a key: a client of the stateless dialect sees
 * it. Names are shorter than digests, so the two cannot meet. */
static bool take_name(const struct ask *a, char name[static NAME_MAX_LEN + 1])
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(a->id);

    if (n < 3 || n > NAME_MAX_LEN + 2 || a->id[0] != '"')
        return false;
    (void)snprintf(name, NAME_MAX_LEN + 1, "%.*s", (int)n - 2, a->id + 1);
    return strspn(name, safe) == n - 2;
}

/* Called again for a name that means something else already: then it goes by its content. */
void ask_make_key(struct ask *a)
{
    const struct span parts[] = {span_of(a->method), buf_span(&a->params)};
    char digest[ASK_DIGEST_LEN + 1];
    char name[NAME_MAX_LEN + 1];
    unsigned times;

    a->is_named = !a->is_named && take_name(a, name) && count_use(a->slot->asking, name) == 1;
    if (a->is_named) {
        (void)snprintf(a->key, sizeof(a->key), "%s", name);
        return;
    }
    id_digest(digest, parts, 2);
    times = count_use(a->slot->asking, digest);
    if (times == 1)
        (void)snprintf(a->key, sizeof(a->key), "%s", digest);
    else
        (void)snprintf(a->key, sizeof(a->key), "%s-%u", digest, times);
}

struct store *ask_store(const struct ask *a)
{
    return a->all->store;
}

void ask_free(struct ask *a)
{
    struct slot *s = a->slot;

    list_del(&a->node);
    list_del(&a->among);
    s->asking->n--;
    slot_waits(s, s->asking->n > 0);
    buf_fini(&a->params);
    free(a->task);
    free(a->id);
    free(a);
}

void ask_refuse(struct slot *s, struct span id, int code, struct span message)
{
    struct buf answer;

    buf_init(&answer, ANSWER_MAX);
    buf_adds(&answer, "{\"error\":");
    result_rpc_error(&answer, code, result_cut(message, WHY_MAX));
    buf_addc(&answer, '}');
    slot_answer(s, id, buf_span(&answer));
    buf_fini(&answer);
}

void ask_end(struct ask *a, int code, const char *message)
{
    ask_refuse(a->slot, span_of(a->id), code, span_of(message));
    ask_free(a);
}

static void on_unasked(void *arg, enum err e, enum store_verdict v)
{
    (void)arg;
    (void)e;
    (void)v; /* the heartbeat learns of a job that is lost */
}

void ask_unask(const struct ask *a, const char *key, struct span answer)
{
    struct store_held held = slot_held(a->slot);

    store_unask(a->all->store, &held, span_of(key), answer, on_unasked, NULL);
}

void ask_forget(const struct ask *a)
{
    ask_host_give_up(a);
    ask_unask(a, a->key, (struct span){"", 0});
}

void ask_fail(struct ask *a, int code, const char *message)
{
    ask_unask(a, a->key, (struct span){"", 0});
    ask_end(a, code, message);
}

void ask_finish(struct ask *a, struct span answer)
{
    struct buf why;

    buf_init(&why, WHY_MAX);
    buf_adds(&why, "what the client answered cannot be used: ");
    if (!ask_check_answer(a->method, buf_span(&a->params), answer, &why)) {
        ask_fail(a, err_rpc(ERR_INTERNAL), buf_span(&why).p);
    } else {
        if (a->is_hosted)
            ask_unask(a, a->key, answer);
        slot_answer(a->slot, span_of(a->id), answer);
        ask_free(a);
    }
    buf_fini(&why);
}
