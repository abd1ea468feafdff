#include "broker/hook_proof.h"

#include "common/id.h"
#include "common/seal.h"

#include <string.h>

enum { TOLERANCE_MS = 5 * 60 * 1000, DIGITS_MAX = 12 };

bool hook_path(const char *path, struct span *id, struct span *token)
{
    static const char folder[] = "/hooks/";
    struct span rest;

    if (strncmp(path, folder, sizeof(folder) - 1) != 0)
        return false;
    rest = span_of(path + sizeof(folder) - 1);
    if (rest.n != ID_LEN + 1 + SEAL_HASH_LEN || rest.p[ID_LEN] != '/')
        return false;
    *id = (struct span){rest.p, ID_LEN};
    *token = (struct span){rest.p + ID_LEN + 1, SEAL_HASH_LEN};
    return true;
}

static bool is_token(const unsigned char secret[static 32], const char *purpose, struct span id,
                     struct span token)
{
    char tag[SEAL_HASH_LEN + 1];

    seal_tag(tag, secret, purpose, id);
    return seal_equal(span_of(tag), token);
}

enum hook_kind hook_kind(const unsigned char secret[static 32], struct span id, struct span token)
{
    if (is_token(secret, "hook-signed", id, token))
        return HOOK_SIGNED;
    return is_token(secret, "hook", id, token) ? HOOK_PLAIN : HOOK_FOREIGN;
}

static bool is_recent(const char *text, uint64_t now_ms)
{
    uint64_t at = 0;
    size_t n = strspn(text, "0123456789");

    if (n == 0 || n > DIGITS_MAX || text[n] != '\0')
        return false;
    for (size_t i = 0; i < n; i++)
        at = at * 10 + (uint64_t)(text[i] - '0');
    at *= 1000;
    return at <= now_ms + TOLERANCE_MS && now_ms <= at + TOLERANCE_MS;
}

/* One of "v1,<base64> v1,<base64> ...": a sender that changes its secret sends two. */
static bool is_among(const char *list, struct span right)
{
    static const char version[] = "v1,";
    const size_t head = sizeof(version) - 1;

    for (const char *p = list; *p != '\0'; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");

        if (n > head && strncmp(p, version, head) == 0 &&
            seal_equal((struct span){p + head, n - head}, right))
            return true;
        p += n;
    }
    return false;
}

bool hook_is_signed(const unsigned char secret[static 32], uint64_t now_ms, struct span id,
                    const struct hook_signature *s, struct span body)
{
    char right[SEAL_HOOK_SIGN_LEN + 1];

    if (s->message == NULL || s->at == NULL || s->list == NULL || !is_recent(s->at, now_ms))
        return false;
    seal_hook_sign(right, secret, id,
                   (struct span[]){span_of(s->message), SPAN("."), span_of(s->at), SPAN("."), body},
                   5);
    return is_among(s->list, span_of(right));
}
