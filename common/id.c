#include "common/id.h"

#include "common/seal.h"

#include <assert.h>
#include <sodium.h>

enum {
    VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
    PARTITION_LEN = 2,
    RANDOM_BYTES = 16,
    OWNER_BYTES = 12,
    SHORT_BYTES = 6,
    DIGEST_BYTES = 16,
    HEX_MAX = 64,
};

static_assert(PARTITION_LEN + sodium_base64_ENCODED_LEN(RANDOM_BYTES, VARIANT) == ID_LEN + 1,
              "the macro counts the NUL");
static_assert(sodium_base64_ENCODED_LEN(OWNER_BYTES, VARIANT) == ID_OWNER_LEN + 1, "owner");
static_assert(sodium_base64_ENCODED_LEN(SHORT_BYTES, VARIANT) == ID_SHORT_LEN + 1, "short");
static_assert(sodium_base64_ENCODED_LEN(DIGEST_BYTES, VARIANT) == 23, "digest");
static_assert(DIGEST_BYTES >= crypto_generichash_BYTES_MIN, "sodium would refuse it");

void id_new(char out[static ID_LEN + 1], unsigned partition)
{
    unsigned char bits[RANDOM_BYTES];

    assert(partition < ID_PARTITIONS_MAX);
    randombytes_buf(bits, sizeof(bits));
    out[0] = (char)('0' + partition / 10);
    out[1] = (char)('0' + partition % 10);
    (void)sodium_bin2base64(out + PARTITION_LEN, ID_LEN + 1 - PARTITION_LEN, bits, sizeof(bits),
                            VARIANT);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_id_char(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

bool id_parse(struct span text, unsigned partitions, unsigned *partition)
{
    unsigned p;

    if (text.p == NULL || text.n != ID_LEN || !is_digit(text.p[0]) || !is_digit(text.p[1]))
        return false;
    for (size_t i = PARTITION_LEN; i < ID_LEN; i++)
        if (!is_id_char(text.p[i]))
            return false;
    p = (unsigned)(text.p[0] - '0') * 10U + (unsigned)(text.p[1] - '0');
    if (p >= partitions)
        return false;
    *partition = p;
    return true;
}

void id_short(char out[static ID_SHORT_LEN + 1])
{
    unsigned char bits[SHORT_BYTES];

    randombytes_buf(bits, sizeof(bits));
    (void)sodium_bin2base64(out, ID_SHORT_LEN + 1, bits, sizeof(bits), VARIANT);
}

void id_owner(char out[static ID_OWNER_LEN + 1], const unsigned char secret[static 32],
              struct span principal)
{
    unsigned char key[32];
    unsigned char hash[DIGEST_BYTES];

    seal_subkey(key, secret, "owner");
    (void)crypto_generichash(hash, sizeof(hash), (const unsigned char *)principal.p, principal.n,
                             key, sizeof(key));
    (void)sodium_bin2base64(out, ID_OWNER_LEN + 1, hash, OWNER_BYTES, VARIANT);
    seal_wipe(key, sizeof(key));
}

/* Where an owner's tasks are must never change: this is part of what is stored. */
unsigned id_owner_partition(struct span owner, unsigned partitions)
{
    unsigned char hash[DIGEST_BYTES];
    uint64_t v = 0;

    assert(partitions != 0 && partitions <= ID_PARTITIONS_MAX);
    (void)crypto_generichash(hash, sizeof(hash), (const unsigned char *)owner.p, owner.n, NULL, 0);
    for (size_t i = 0; i < sizeof(v); i++)
        v |= (uint64_t)hash[i] << (8 * i);
    return (unsigned)(v % partitions);
}

void id_hex(char *out, unsigned digits)
{
    unsigned char bits[HEX_MAX / 2];

    assert(digits <= HEX_MAX && digits % 2 == 0);
    randombytes_buf(bits, digits / 2);
    (void)sodium_bin2hex(out, digits + 1U, bits, digits / 2);
}

void id_digest(char out[static 23], const struct span *parts, size_t count)
{
    unsigned char hash[DIGEST_BYTES];
    crypto_generichash_state s;

    (void)crypto_generichash_init(&s, NULL, 0, sizeof(hash));
    for (size_t i = 0; i < count; i++) {
        unsigned char length[8];

        /* So that "ab","c" and "a","bc" differ. */
        for (size_t k = 0; k < sizeof(length); k++)
            length[k] = (unsigned char)((uint64_t)parts[i].n >> (8 * k));
        (void)crypto_generichash_update(&s, length, sizeof(length));
        (void)crypto_generichash_update(&s, (const unsigned char *)parts[i].p, parts[i].n);
    }
    (void)crypto_generichash_final(&s, hash, sizeof(hash));
    (void)sodium_bin2base64(out, 23, hash, sizeof(hash), VARIANT);
}
