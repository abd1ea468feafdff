/* Any text in place of what we sealed (a cursor, a request's state): it opens for nobody, unless it
 * is what we sealed, for the same purpose and owner, before it expired. And any text can be sealed.
 */
#include "tests/fuzz/fuzz.h"

#include "common/mem.h"
#include "common/seal.h"

#include <string.h>

enum { LONGEST = 64 << 10, UNTIL_MS = 1000 };

static const unsigned char secret[SEAL_SECRET_LEN] = "a secret that is not one at all";

static bool opens(const char *purpose, const char *owner, uint64_t now_ms, struct span sealed,
                  struct span expected)
{
    struct buf out;
    bool ok;

    buf_init(&out, 2 * LONGEST);
    ok = seal_open(&out, secret, purpose, span_of(owner), now_ms, sealed) == ERR_OK;
    FUZZ_CHECK(ok ? span_equal(buf_span(&out), expected) : out.n == 0);
    buf_fini(&out);
    return ok;
}

/* One character of it is another one. */
static void check_change(struct span sealed, struct span plain, const uint8_t *data, size_t size)
{
    size_t at = size > 0 ? (data[0] * 256U + data[size - 1]) % sealed.n : 0;
    char *copy = mem_dup(sealed.p, sealed.n);

    copy[at] = copy[at] == 'A' ? 'B' : 'A';
    if (at + 1 < sealed.n) /* the last one has bits that say nothing, and must be 0 */
        FUZZ_CHECK(!opens("cursor", "me", 0, (struct span){copy, sealed.n}, plain));
    else
        (void)opens("cursor", "me", 0, (struct span){copy, sealed.n}, plain);
    free(copy);
}

static void check_ours(struct span plain, const uint8_t *data, size_t size)
{
    struct buf sealed;
    struct span text;

    buf_init(&sealed, 4 * LONGEST);
    seal_close(&sealed, secret, "cursor", SPAN("me"), UNTIL_MS, plain);
    text = buf_span(&sealed);
    FUZZ_CHECK(buf_ok(&sealed) && opens("cursor", "me", UNTIL_MS - 1, text, plain));
    FUZZ_CHECK(!opens("cursor", "me", UNTIL_MS + 1, text, plain));
    FUZZ_CHECK(!opens("cursor", "you", 0, text, plain));
    FUZZ_CHECK(!opens("state", "me", 0, text, plain));
    check_change(text, plain, data, size);
    text.n--;
    FUZZ_CHECK(!opens("cursor", "me", 0, text, plain));
    buf_fini(&sealed);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct span text = {(const char *)data, size};
    unsigned char parsed[SEAL_SECRET_LEN];
    char written[SEAL_HASH_LEN + 1];
    static bool is_ready;

    if (size > LONGEST)
        return 0;
    if (!is_ready)
        FUZZ_CHECK(seal_init() == 0);
    is_ready = true;
    FUZZ_CHECK(!opens("cursor", "me", 0, text, text));
    check_ours(text, data, size);
    if (seal_secret_parse(parsed, text) == ERR_OK) {
        seal_secret_text(written, parsed);
        FUZZ_CHECK(span_is(text, written));
    }
    if (seal_key_form(text))
        FUZZ_CHECK(size == SEAL_KEY_TEXT_LEN && memcmp(data, "erk_", 4) == 0);
    return 0;
}
