/* Any callback: four lines (path, webhook-id, webhook-timestamp, webhook-signature) and a body. The
 * path is read within its bounds, no token and no signature is taken but our own, and our own is.
 */
#include "tests/fuzz/fuzz.h"

#include "broker/hook_proof.h"
#include "common/id.h"
#include "common/mem.h"
#include "common/seal.h"

#include <string.h>

enum { LONGEST = 64 << 10 };

static const unsigned char secret[SEAL_SECRET_LEN] = "a secret that is not one at all";
static const uint64_t now_ms = 1700000000000;

/* A line of its own, without its end; *rest moves behind it. */
static char *take_line(struct span *rest)
{
    const char *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    size_t n = end != NULL ? (size_t)(end - rest->p) : rest->n;
    char *line = mem_dup(rest->p, n);

    rest->p += n + (end != NULL);
    rest->n -= n + (end != NULL);
    return line;
}

static void check_path(const char *path)
{
    struct span id;
    struct span token;
    char ours[SEAL_HASH_LEN + 1];

    if (!hook_path(path, &id, &token))
        return;
    FUZZ_CHECK(id.n == ID_LEN && id.p == path + 7 && strlen(path) == 8 + ID_LEN + SEAL_HASH_LEN);
    FUZZ_CHECK(token.p == id.p + ID_LEN + 1 && token.n == SEAL_HASH_LEN);
    FUZZ_CHECK(hook_kind(secret, id, token) == HOOK_FOREIGN);
    seal_tag(ours, secret, "hook", id);
    FUZZ_CHECK(hook_kind(secret, id, span_of(ours)) == HOOK_PLAIN);
    seal_tag(ours, secret, "hook-signed", id);
    FUZZ_CHECK(hook_kind(secret, id, span_of(ours)) == HOOK_SIGNED);
}

static bool is_our_time(const char *at)
{
    size_t n = strspn(at, "0123456789");

    return n > 0 && n <= 12 && at[n] == '\0' && strtoll(at, NULL, 10) >= 1700000000 - 300 &&
           strtoll(at, NULL, 10) <= 1700000000 + 300;
}

/* The right signature, put behind what came, is found there. */
static void check_signature(struct hook_signature *s, struct span body)
{
    const struct span id = SPAN("00AAAAAAAAAAAAAAAAAAAAAA");
    char right[SEAL_HOOK_SIGN_LEN + 1];
    struct buf list;

    FUZZ_CHECK(!hook_is_signed(secret, now_ms, id, s, body));
    seal_hook_sign(right, secret, id,
                   (struct span[]){span_of(s->message), SPAN("."), span_of(s->at), SPAN("."), body},
                   5);
    buf_init(&list, 2 * LONGEST);
    buf_addf(&list, "%s v1,%s", s->list, right);
    s->list = buf_span(&list).p;
    FUZZ_CHECK(hook_is_signed(secret, now_ms, id, s, body) == is_our_time(s->at));
    buf_fini(&list);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct span rest = {size > 0 ? (const char *)data : "", size};
    struct hook_signature s;
    char *lines[4];
    static bool is_ready;

    if (size > LONGEST)
        return 0;
    if (!is_ready)
        FUZZ_CHECK(seal_init() == 0);
    is_ready = true;
    for (int i = 0; i < 4; i++)
        lines[i] = take_line(&rest);
    check_path(lines[0]);
    s = (struct hook_signature){lines[1], lines[2], lines[3]};
    check_signature(&s, rest);
    for (int i = 0; i < 4; i++)
        free(lines[i]);
    return 0;
}
