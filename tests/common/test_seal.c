#include "common/map.h"
#include "common/mem.h"
#include "common/seal.h"
#include "tests/lib/test.h"

#include <stdlib.h>

static const unsigned char secret[32] = "an installation's only secret...";
static const unsigned char other[32] = "the secret of another, or older.";

enum { NOW = 1000, LATER = 2000 };

static void seal(struct buf *out, const char *purpose, const char *owner, const char *plain)
{
    buf_init(out, 4096);
    seal_close(out, secret, purpose, span_of(owner), LATER, span_of(plain));
}

static enum err open_as(const unsigned char *with, const char *purpose, const char *owner,
                        uint64_t now, struct span sealed)
{
    struct buf out;
    enum err e;

    buf_init(&out, 4096);
    e = seal_open(&out, with, purpose, span_of(owner), now, sealed);
    if (e != ERR_OK && out.n != 0)
        e = ERR_INTERNAL; /* a refused text leaves nothing behind */
    buf_fini(&out);
    return e;
}

static enum err open_cursor(struct span sealed)
{
    return open_as(secret, "cursor", "ann", NOW, sealed);
}

TEST(what_was_sealed_opens_to_the_same_bytes)
{
    const struct span plains[] = {SPAN(""), SPAN("42"), SPAN("a\0b\xff{}\n")};

    CHECK(seal_init() == 0);
    for (size_t i = 0; i < 3; i++) {
        struct buf sealed;
        struct buf out;

        buf_init(&sealed, 4096);
        buf_init(&out, 4096);
        buf_adds(&out, "kept:");
        seal_close(&sealed, secret, "cursor", SPAN("ann"), LATER, plains[i]);
        CHECK(seal_open(&out, secret, "cursor", SPAN("ann"), NOW, buf_span(&sealed)) == ERR_OK);
        CHECK(memcmp(out.p, "kept:", 5) == 0);
        CHECK(span_equal((struct span){out.p + 5, out.n - 5}, plains[i]));
        buf_fini(&sealed);
        buf_fini(&out);
    }
}

TEST(a_sealed_text_is_base64url_and_hides_what_it_holds)
{
    struct buf sealed;

    seal(&sealed, "cursor", "ann", "seq=123456789");
    CHECK(strspn(sealed.p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          sealed.n);
    CHECK(strstr(sealed.p, "123456") == NULL);
    buf_fini(&sealed);
}

TEST(S2_a_sealed_text_with_anything_added_is_refused)
{
    static const char *const extras[] = {"$$", "+", "=", "==", "\n", " ", "A", "AA", "AAAA", "/"};
    struct buf sealed;

    seal(&sealed, "cursor", "ann", "42");
    CHECK(open_cursor(buf_span(&sealed)) == ERR_OK);
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
        struct buf t;

        buf_init(&t, 8192);
        buf_add_span(&t, buf_span(&sealed));
        buf_adds(&t, extras[i]);
        CHECK(open_cursor(buf_span(&t)) == ERR_INVALID_PARAMS);
        buf_reset(&t);
        buf_adds(&t, extras[i]);
        buf_add_span(&t, buf_span(&sealed));
        CHECK(open_cursor(buf_span(&t)) == ERR_INVALID_PARAMS);
        buf_fini(&t);
    }
    buf_fini(&sealed);
}

TEST(S3_every_other_spelling_of_a_sealed_text_is_refused)
{
    struct buf sealed;

    seal(&sealed, "cursor", "ann", "42");
    for (size_t i = 0; i < sealed.n; i++) {
        char was = sealed.p[i];

        for (int c = 0; c < 256; c++) {
            sealed.p[i] = (char)c;
            CHECK((open_cursor(buf_span(&sealed)) == ERR_OK) == ((char)c == was));
        }
        sealed.p[i] = was;
    }
    buf_fini(&sealed);
}

TEST(S3_a_sealed_text_cut_short_is_refused_at_every_length)
{
    struct buf sealed;

    seal(&sealed, "cursor", "ann", "42");
    for (size_t n = 0; n < sealed.n; n++)
        CHECK(open_cursor((struct span){sealed.p, n}) == ERR_INVALID_PARAMS);
    CHECK(open_cursor((struct span){NULL, 0}) == ERR_INVALID_PARAMS);
    CHECK(open_cursor(SPAN("MTIz")) == ERR_INVALID_PARAMS);
    buf_fini(&sealed);
}

/* The text form starts with version and key id, 2 bytes, then the nonce: 26 bytes, 35 letters. */
TEST(S5_no_two_sealed_texts_share_a_nonce)
{
    enum { COUNT = 20000, LEN = 35 };
    struct map_node *nodes = mem_zalloc(COUNT * sizeof(*nodes));
    char *keys = mem_alloc((size_t)COUNT * LEN);
    struct map seen;
    size_t repeats = 0;

    map_init(&seen);
    for (size_t i = 0; i < COUNT; i++) {
        struct span key = {keys + i * LEN, LEN};
        struct buf sealed;

        seal(&sealed, "cursor", "ann", "42");
        memcpy(keys + i * LEN, sealed.p, LEN);
        repeats += map_find(&seen, key) != NULL;
        map_add(&seen, &nodes[i], key);
        buf_fini(&sealed);
    }
    CHECK(repeats == 0);
    map_fini(&seen);
    free(nodes);
    free(keys);
}

TEST(S6_a_cursor_of_another_owner_or_purpose_is_refused)
{
    struct buf sealed;
    struct span text;

    seal(&sealed, "cursor", "ann", "42");
    text = buf_span(&sealed);
    CHECK(open_as(secret, "cursor", "ann", NOW, text) == ERR_OK);
    CHECK(open_as(secret, "cursor", "bob", NOW, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "cursor", "", NOW, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "cursor", "ann ", NOW, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "tools", "ann", NOW, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "cursorann", "", NOW, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "", "ann", NOW, text) == ERR_INVALID_PARAMS);
    buf_fini(&sealed);
}

TEST(S6_a_cursor_is_refused_from_the_moment_it_expires)
{
    struct buf sealed;
    struct span text;

    seal(&sealed, "cursor", "ann", "42");
    text = buf_span(&sealed);
    CHECK(open_as(secret, "cursor", "ann", LATER - 1, text) == ERR_OK);
    CHECK(open_as(secret, "cursor", "ann", LATER, text) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "cursor", "ann", UINT64_MAX, text) == ERR_INVALID_PARAMS);
    buf_fini(&sealed);
}

TEST(S7_another_secret_does_not_open_and_each_of_two_opens_its_own)
{
    struct buf mine;
    struct buf theirs;

    seal(&mine, "cursor", "ann", "42");
    buf_init(&theirs, 4096);
    seal_close(&theirs, other, "cursor", SPAN("ann"), LATER, SPAN("42"));
    CHECK(mine.p[0] == theirs.p[0]); /* the version */
    CHECK(memcmp(mine.p, theirs.p, 3) != 0); /* the key id */
    CHECK(open_as(other, "cursor", "ann", NOW, buf_span(&mine)) == ERR_INVALID_PARAMS);
    CHECK(open_as(secret, "cursor", "ann", NOW, buf_span(&theirs)) == ERR_INVALID_PARAMS);
    CHECK(open_as(other, "cursor", "ann", NOW, buf_span(&theirs)) == ERR_OK);
    buf_fini(&mine);
    buf_fini(&theirs);
}

TEST(S7_two_sealed_texts_of_one_secret_start_with_the_same_version_and_key)
{
    struct buf a;
    struct buf b;

    seal(&a, "cursor", "ann", "1");
    seal(&b, "token", "bob", "2");
    CHECK(memcmp(a.p, b.p, 2) == 0); /* the third letter holds bits of the nonce too */
    buf_fini(&a);
    buf_fini(&b);
}

TEST(a_sealed_text_that_does_not_fit_overflows_its_buf)
{
    struct buf sealed;

    buf_init(&sealed, 20);
    seal_close(&sealed, secret, "cursor", SPAN("ann"), LATER, SPAN("42"));
    CHECK(!buf_ok(&sealed));
    buf_fini(&sealed);
}

TEST(a_secret_survives_its_text_form_and_no_other_text_is_one)
{
    unsigned char made[32];
    unsigned char back[32] = {0};
    char text[SEAL_HASH_LEN + 1];
    char twisted[SEAL_HASH_LEN + 1];

    seal_new_secret(made);
    seal_secret_text(text, made);
    CHECK(strlen(text) == SEAL_HASH_LEN);
    CHECK(seal_secret_parse(back, span_of(text)) == ERR_OK);
    CHECK(memcmp(made, back, 32) == 0);
    CHECK(seal_secret_parse(back, (struct span){text, SEAL_HASH_LEN - 1}) == ERR_CONFIG);
    CHECK(seal_secret_parse(back, SPAN("")) == ERR_CONFIG);
    CHECK(seal_secret_parse(back, (struct span){NULL, 0}) == ERR_CONFIG);
    memcpy(twisted, text, sizeof(text));
    twisted[5] = '+';
    CHECK(seal_secret_parse(back, span_of(twisted)) == ERR_CONFIG);
    memset(twisted, 'A', SEAL_HASH_LEN);
    CHECK(seal_secret_parse(back, span_of(twisted)) == ERR_OK);
    memcpy(back, made, sizeof(back));
    twisted[SEAL_HASH_LEN - 1] = 'B'; /* bits past the 256th */
    CHECK(seal_secret_parse(back, span_of(twisted)) == ERR_CONFIG);
    CHECK(memcmp(made, back, 32) == 0); /* what failed changed nothing */
}

TEST(two_secrets_and_two_keys_are_never_the_same)
{
    unsigned char a[32];
    unsigned char b[32];
    char ka[SEAL_KEY_TEXT_LEN + 1];
    char kb[SEAL_KEY_TEXT_LEN + 1];

    seal_new_secret(a);
    seal_new_secret(b);
    seal_new_key(ka);
    seal_new_key(kb);
    CHECK(memcmp(a, b, 32) != 0);
    CHECK(strcmp(ka, kb) != 0);
}

TEST(an_api_key_has_one_form)
{
    char key[SEAL_KEY_TEXT_LEN + 2];

    seal_new_key(key);
    CHECK(strlen(key) == SEAL_KEY_TEXT_LEN);
    CHECK(seal_key_form(span_of(key)));
    CHECK(!seal_key_form((struct span){key, SEAL_KEY_TEXT_LEN - 1}));
    CHECK(!seal_key_form((struct span){key + 1, SEAL_KEY_TEXT_LEN - 1}));
    CHECK(!seal_key_form((struct span){NULL, 0}));
    key[0] = 'E';
    CHECK(!seal_key_form(span_of(key)));
    key[0] = 'e';
    key[10] = ' ';
    CHECK(!seal_key_form(span_of(key)));
    key[10] = 'A';
    key[SEAL_KEY_TEXT_LEN] = 'A';
    CHECK(!seal_key_form((struct span){key, SEAL_KEY_TEXT_LEN + 1}));
}

TEST(S8_a_key_is_stored_as_a_hash_under_the_installations_secret)
{
    char a[SEAL_HASH_LEN + 1];
    char b[SEAL_HASH_LEN + 1];

    seal_key_hash(a, secret, SPAN("erk_one"));
    seal_key_hash(b, secret, SPAN("erk_one"));
    CHECK(strlen(a) == SEAL_HASH_LEN && strcmp(a, b) == 0);
    seal_key_hash(b, secret, SPAN("erk_two"));
    CHECK(strcmp(a, b) != 0);
    seal_key_hash(b, other, SPAN("erk_one"));
    CHECK(strcmp(a, b) != 0);
    seal_tag(b, secret, "hook", SPAN("erk_one"));
    CHECK(strcmp(a, b) != 0);
    CHECK(strstr(a, "erk") == NULL);
}

TEST(S8_secrets_are_compared_whole)
{
    CHECK(seal_equal(SPAN("token"), SPAN("token")));
    CHECK(!seal_equal(SPAN("token"), SPAN("tokeN")));
    CHECK(!seal_equal(SPAN("token"), SPAN("toke")));
    CHECK(!seal_equal(SPAN("token"), SPAN("token\0")));
    CHECK(!seal_equal(SPAN(""), (struct span){NULL, 0}));
    CHECK(!seal_equal((struct span){NULL, 0}, (struct span){NULL, 0}));
}

TEST(each_purpose_has_a_key_of_its_own)
{
    unsigned char a[32];
    unsigned char b[32];

    seal_subkey(a, secret, "owner");
    seal_subkey(b, secret, "cursor");
    CHECK(memcmp(a, b, 32) != 0);
    CHECK(memcmp(a, secret, 32) != 0);
    seal_subkey(b, secret, "owner");
    CHECK(memcmp(a, b, 32) == 0);
    seal_subkey(b, other, "owner");
    CHECK(memcmp(a, b, 32) != 0);
}

TEST(S12_a_wiped_secret_is_gone)
{
    unsigned char bytes[32];
    unsigned char sum = 0;

    memcpy(bytes, secret, sizeof(bytes));
    seal_wipe(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        sum |= bytes[i];
    CHECK(sum == 0);
}

/* That others make the same of it is shown by e2e/http_jobs. */
TEST(B26_a_callback_is_signed_as_standard_webhooks_has_it)
{
    char text[SEAL_HOOK_SECRET_LEN + 1];
    char again[SEAL_HOOK_SECRET_LEN + 1];
    char whole[SEAL_HOOK_SIGN_LEN + 1];
    char parts[SEAL_HOOK_SIGN_LEN + 1];

    seal_hook_secret(text, secret, SPAN("task-1"));
    seal_hook_secret(again, secret, SPAN("task-2"));
    CHECK(strlen(text) == SEAL_HOOK_SECRET_LEN && strncmp(text, "whsec_", 6) == 0);
    CHECK(strcmp(text, again) != 0);
    seal_hook_secret(again, other, SPAN("task-1"));
    CHECK(strcmp(text, again) != 0);
    seal_hook_sign(whole, secret, SPAN("task-1"), (struct span[]){SPAN("msg-1.1700000000.{}")}, 1);
    seal_hook_sign(parts, secret, SPAN("task-1"),
                   (struct span[]){SPAN("msg-1"), SPAN("."), SPAN("1700000000"), SPAN(".{}")}, 4);
    CHECK(strlen(whole) == SEAL_HOOK_SIGN_LEN && strcmp(whole, parts) == 0);
    seal_hook_sign(parts, secret, SPAN("task-2"), (struct span[]){SPAN("msg-1.1700000000.{}")}, 1);
    CHECK(strcmp(whole, parts) != 0);
}
