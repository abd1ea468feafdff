#include "common/seal.h"

#include "common/mem.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
    VERSION = 1,
    KEY_LEN = 32,
    HEAD_LEN = 2, /* version, key id */
    NONCE_LEN = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_LEN = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    EXPIRY_LEN = 8,
    SEALED_MIN = HEAD_LEN + NONCE_LEN + EXPIRY_LEN + TAG_LEN,
};

static const char key_prefix[] = "erk_";
static const char hook_prefix[] = "whsec_";

static_assert((int)SEAL_SECRET_LEN == KEY_LEN, "a secret is one key");
static_assert(KEY_LEN == (int)crypto_generichash_KEYBYTES, "one length of key everywhere");
static_assert(KEY_LEN == (int)crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "and here");
static_assert(sodium_base64_ENCODED_LEN(KEY_LEN, VARIANT) == SEAL_HASH_LEN + 1,
              "the macro counts the NUL");
static_assert(sizeof(key_prefix) - 1 + SEAL_HASH_LEN == SEAL_KEY_TEXT_LEN, "prefix and 256 bits");

int seal_init(void)
{
    return sodium_init() < 0 ? -1 : 0;
}

void seal_wipe(void *p, size_t n)
{
    sodium_memzero(p, n);
}

bool seal_equal(struct span a, struct span b)
{
    return a.p != NULL && b.p != NULL && a.n == b.n && sodium_memcmp(a.p, b.p, a.n) == 0;
}

void seal_new_secret(unsigned char out[static SEAL_SECRET_LEN])
{
    randombytes_buf(out, SEAL_SECRET_LEN);
}

static void encode32(char out[static SEAL_HASH_LEN + 1], const unsigned char bytes[static KEY_LEN])
{
    (void)sodium_bin2base64(out, SEAL_HASH_LEN + 1, bytes, KEY_LEN, VARIANT);
}

/* One value has one text. Without an end pointer sodium refuses what follows the last whole byte,
 * and a tail that has bits to spare; but 1.0.18 reads any byte past 0x7f as it reads '_'. */
static bool decode(unsigned char *out, size_t room, struct span text, size_t *n)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] > 0x7f)
            return false;
    return text.p != NULL &&
           sodium_base642bin(out, room, text.p, text.n, NULL, n, NULL, VARIANT) == 0;
}

static bool decode32(unsigned char out[static KEY_LEN], struct span text)
{
    size_t n;

    return text.n == SEAL_HASH_LEN && decode(out, KEY_LEN, text, &n) && n == KEY_LEN;
}

void seal_secret_text(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32])
{
    encode32(out, secret);
}

enum err seal_secret_parse(unsigned char out[static 32], struct span text)
{
    unsigned char secret[KEY_LEN];
    bool ok = decode32(secret, text);

    if (ok)
        memcpy(out, secret, sizeof(secret));
    seal_wipe(secret, sizeof(secret));
    return ok ? ERR_OK : ERR_CONFIG;
}

void seal_subkey(unsigned char out[static 32], const unsigned char secret[static 32],
                 const char *purpose)
{
    (void)crypto_generichash(out, KEY_LEN, (const unsigned char *)purpose, strlen(purpose), secret,
                             KEY_LEN);
}

void seal_tag(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32],
              const char *purpose, struct span text)
{
    unsigned char key[KEY_LEN];
    unsigned char hash[KEY_LEN];

    seal_subkey(key, secret, purpose);
    (void)crypto_generichash(hash, sizeof(hash), (const unsigned char *)text.p, text.n, key,
                             sizeof(key));
    encode32(out, hash);
    seal_wipe(key, sizeof(key));
}

static void hook_key(unsigned char out[static KEY_LEN], const unsigned char secret[static 32],
                     struct span task)
{
    unsigned char key[KEY_LEN];

    seal_subkey(key, secret, "hook-signature");
    (void)crypto_generichash(out, KEY_LEN, (const unsigned char *)task.p, task.n, key, sizeof(key));
    seal_wipe(key, sizeof(key));
}

void seal_hook_secret(char out[static SEAL_HOOK_SECRET_LEN + 1],
                      const unsigned char secret[static 32], struct span task)
{
    const size_t head = sizeof(hook_prefix) - 1;
    unsigned char key[KEY_LEN];

    hook_key(key, secret, task);
    memcpy(out, hook_prefix, head);
    (void)sodium_bin2base64(out + head, SEAL_HOOK_SECRET_LEN + 1 - head, key, sizeof(key),
                            sodium_base64_VARIANT_ORIGINAL);
    seal_wipe(key, sizeof(key));
}

void seal_hook_sign(char out[static SEAL_HOOK_SIGN_LEN + 1], const unsigned char secret[static 32],
                    struct span task, const struct span *parts, size_t count)
{
    unsigned char key[KEY_LEN];
    unsigned char hash[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;

    hook_key(key, secret, task);
    (void)crypto_auth_hmacsha256_init(&state, key, sizeof(key));
    for (size_t i = 0; i < count; i++)
        (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)parts[i].p, parts[i].n);
    (void)crypto_auth_hmacsha256_final(&state, hash);
    (void)sodium_bin2base64(out, SEAL_HOOK_SIGN_LEN + 1, hash, sizeof(hash),
                            sodium_base64_VARIANT_ORIGINAL);
    seal_wipe(key, sizeof(key));
    seal_wipe(&state, sizeof(state));
}

void seal_new_key(char out[static SEAL_KEY_TEXT_LEN + 1])
{
    unsigned char bits[KEY_LEN];

    randombytes_buf(bits, sizeof(bits));
    memcpy(out, key_prefix, sizeof(key_prefix) - 1);
    encode32(out + sizeof(key_prefix) - 1, bits);
    seal_wipe(bits, sizeof(bits));
}

bool seal_key_form(struct span text)
{
    const size_t prefix = sizeof(key_prefix) - 1;
    unsigned char bits[KEY_LEN];
    bool ok;

    if (text.p == NULL || text.n != SEAL_KEY_TEXT_LEN || memcmp(text.p, key_prefix, prefix) != 0)
        return false;
    ok = decode32(bits, (struct span){text.p + prefix, text.n - prefix});
    seal_wipe(bits, sizeof(bits));
    return ok;
}

/* A key is 256 random bits: a fast keyed hash hides it as well as a slow one would. */
void seal_key_hash(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32],
                   struct span key)
{
    seal_tag(out, secret, "key", key);
}

/* What a sealed text is bound to without holding it, and the key that seals it. */
struct binding {
    unsigned char key[KEY_LEN];
    unsigned char head[HEAD_LEN];
    unsigned char context[KEY_LEN];
};

static void bind_to(struct binding *b, const unsigned char secret[static 32], const char *purpose,
                    struct span owner)
{
    crypto_generichash_state s;
    unsigned char id[KEY_LEN];

    seal_subkey(id, secret, "key id");
    b->head[0] = VERSION;
    b->head[1] = id[0];
    seal_subkey(b->key, secret, purpose);
    (void)crypto_generichash_init(&s, NULL, 0, sizeof(b->context));
    (void)crypto_generichash_update(&s, b->head, sizeof(b->head));
    (void)crypto_generichash_update(&s, (const unsigned char *)purpose, strlen(purpose) + 1);
    (void)crypto_generichash_update(&s, (const unsigned char *)owner.p, owner.n);
    (void)crypto_generichash_final(&s, b->context, sizeof(b->context));
    seal_wipe(id, sizeof(id));
}

static void put_u64(unsigned char out[static EXPIRY_LEN], uint64_t v)
{
    for (int i = 0; i < EXPIRY_LEN; i++)
        out[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get_u64(const unsigned char in[static EXPIRY_LEN])
{
    uint64_t v = 0;

    for (int i = 0; i < EXPIRY_LEN; i++)
        v |= (uint64_t)in[i] << (8 * i);
    return v;
}

static void add_base64(struct buf *out, const unsigned char *p, size_t n)
{
    size_t room = sodium_base64_encoded_len(n, VARIANT);
    char *text = mem_alloc(room);

    (void)sodium_bin2base64(text, room, p, n, VARIANT);
    buf_add(out, text, room - 1);
    free(text);
}

void seal_close(struct buf *out, const unsigned char secret[static 32], const char *purpose,
                struct span owner, uint64_t expires_ms, struct span plain)
{
    size_t n = SEALED_MIN + plain.n;
    unsigned char *sealed = mem_alloc(n);
    unsigned char *nonce = sealed + HEAD_LEN;
    unsigned char *body = nonce + NONCE_LEN;
    struct binding b;

    bind_to(&b, secret, purpose, owner);
    memcpy(sealed, b.head, HEAD_LEN);
    randombytes_buf(nonce, NONCE_LEN);
    put_u64(body, expires_ms);
    if (plain.n != 0)
        memcpy(body + EXPIRY_LEN, plain.p, plain.n);
    /* In place: sodium allows it. */
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(
        body, NULL, body, EXPIRY_LEN + plain.n, b.context, sizeof(b.context), NULL, nonce, b.key);
    add_base64(out, sealed, n);
    seal_wipe(&b, sizeof(b));
    free(sealed);
}

enum err seal_open(struct buf *out, const unsigned char secret[static 32], const char *purpose,
                   struct span owner, uint64_t now_ms, struct span sealed)
{
    unsigned char *bytes = mem_alloc(sealed.n);
    const unsigned char *nonce = bytes + HEAD_LEN;
    unsigned char *body = bytes + HEAD_LEN + NONCE_LEN;
    enum err e = ERR_INVALID_PARAMS;
    struct binding b;
    size_t n;

    bind_to(&b, secret, purpose, owner);
    if (!decode(bytes, sealed.n, sealed, &n) || n < SEALED_MIN ||
        memcmp(bytes, b.head, HEAD_LEN) != 0)
        goto out;
    n -= HEAD_LEN + NONCE_LEN;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(body, NULL, NULL, body, n, b.context,
                                                   sizeof(b.context), nonce, b.key) != 0 ||
        get_u64(body) <= now_ms)
        goto out;
    buf_add(out, (const char *)body + EXPIRY_LEN, n - TAG_LEN - EXPIRY_LEN);
    e = ERR_OK;
out:
    seal_wipe(&b, sizeof(b));
    seal_wipe(bytes, sealed.n);
    free(bytes);
    return e;
}

bool seal_base64(struct buf *out, struct span text)
{
    unsigned char *bin = mem_alloc(text.n + 1);
    size_t n = 0;
    bool good = true;

    /* The library takes bytes from 0x80 on for digits. */
    for (size_t i = 0; i < text.n; i++)
        good = good && (unsigned char)text.p[i] < 0x80;
    good = good && sodium_base642bin(bin, text.n + 1, text.p, text.n, NULL, &n, NULL,
                                     sodium_base64_VARIANT_ORIGINAL) == 0;
    if (good)
        buf_add(out, (const char *)bin, n);
    free(bin);
    return good;
}
