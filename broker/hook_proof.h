/* hook_proof.h - what the address of a callback and its signature prove. Nothing is sent or kept.
 */
#pragma once

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

/* Where it was posted: /hooks/<task>/<token>. Both are borrowed from path; false when it has not
 * that form. */
bool hook_path(const char *path, struct span *id, struct span *token);

enum hook_kind {
    HOOK_FOREIGN, /* the token was not given out for that task */
    HOOK_PLAIN, /* it is proof enough */
    HOOK_SIGNED, /* the sender must sign, too */
};
enum hook_kind hook_kind(const unsigned char secret[static 32], struct span id, struct span token);

/* As Standard Webhooks has it; a header that is not there is NULL. The sender's clock may be five
 * minutes off. */
struct hook_signature {
    const char *message; /* webhook-id */
    const char *at; /* webhook-timestamp */
    const char *list; /* webhook-signature */
};
bool hook_is_signed(const unsigned char secret[static 32], uint64_t now_ms, struct span id,
                    const struct hook_signature *s, struct span body);
