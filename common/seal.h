/* seal.h - what clients hold and must not forge: cursors, tokens, API keys.
 *
 * One 32-byte secret for the installation, shared by every broker; each purpose has a subkey of
 * its own. With id.c the only user of libsodium.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#include <stdint.h>

enum {
    SEAL_SECRET_LEN = 32,
    SEAL_KEY_TEXT_LEN = 47, /* "erk_" and 43 characters: 256 random bits */
    SEAL_HASH_LEN = 43, /* base64url of 32 bytes */
    SEAL_HOOK_SECRET_LEN = 50, /* "whsec_" and base64 of 32 bytes */
    SEAL_HOOK_SIGN_LEN = 44,
};

int seal_init(void); /* first thing in main; -1: no randomness to be had */
void seal_new_secret(unsigned char out[static SEAL_SECRET_LEN]);
/* Text forms of a secret, for where it is kept (base64url, 43 characters). */
void seal_secret_text(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32]);
enum err seal_secret_parse(unsigned char out[static 32], struct span text) MUST_USE;

/* Seals plain for one purpose and one principal ("cursor", owner) until a wall-clock time:
 * base64url of XChaCha20-Poly1305 with a random nonce; purpose, version and owner are
 * authenticated. To change the secret without breaking what clients hold, open with the new one
 * and then with the old one: a byte of the text tells them apart at no cost. */
void seal_close(struct buf *out, const unsigned char secret[static 32], const char *purpose,
                struct span owner, uint64_t expires_ms, struct span plain);
/* ERR_INVALID_PARAMS for anything that we did not seal for exactly that purpose and owner, or
 * that has expired; out is then as it was. */
enum err seal_open(struct buf *out, const unsigned char secret[static 32], const char *purpose,
                   struct span owner, uint64_t now_ms, struct span sealed) MUST_USE;

/* The key of one purpose, made from the installation's secret; wipe it after use. */
void seal_subkey(unsigned char out[static 32], const unsigned char secret[static 32],
                 const char *purpose);
/* A keyed digest of any text for one purpose: what a callback's address carries as its proof. */
void seal_tag(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32],
              const char *purpose, struct span text);
/* What callbacks of one task are signed with, as Standard Webhooks has it: the secret as text, and
 * the signature (base64) of these parts joined. */
void seal_hook_secret(char out[static SEAL_HOOK_SECRET_LEN + 1],
                      const unsigned char secret[static 32], struct span task);
void seal_hook_sign(char out[static SEAL_HOOK_SIGN_LEN + 1], const unsigned char secret[static 32],
                    struct span task, const struct span *parts, size_t count);
/* Compares secrets in a time that depends on their length alone. */
bool seal_equal(struct span a, struct span b);

/* A fresh API key as text, and the keyed hash under which it is stored. Any text has a hash; one
 * that cannot be a key in form is refused before (seal_key_form). */
void seal_new_key(char out[static SEAL_KEY_TEXT_LEN + 1]);
bool seal_key_form(struct span text);
void seal_key_hash(char out[static SEAL_HASH_LEN + 1], const unsigned char secret[static 32],
                   struct span key);
/* Decodes base64 of the standard alphabet with its padding; false for anything else. Appends. */
bool seal_base64(struct buf *out, struct span text);
void seal_wipe(void *p, size_t n);
