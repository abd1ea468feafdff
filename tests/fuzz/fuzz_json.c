/* Any bytes: json_check() agrees with a second reading of RFC 8259 written another way; what it
 * accepts, cJSON and the look-ups understand alike; what it refuses, the look-ups survive. */
#include "tests/fuzz/fuzz.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "tests/fuzz/json_reading.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* --- what is accepted: our look-ups beside cJSON -----------------------------------------------
 */

static bool is_within(struct span inner, struct span outer)
{
    return inner.p >= outer.p && inner.p + inner.n <= outer.p + outer.n;
}

/* json_get() finds the first of a name; json_get_many() refuses a second. */
static void compare_look_up(struct span object, const char *name)
{
    struct span first = {NULL, 0};
    struct json_want want = {.name = name};
    struct span found;
    struct span v;
    size_t cursor = 0;
    size_t n = 0;
    char other[256];

    while (json_next(object, &cursor, &found, &v))
        if (json_string((struct span){found.p - 1, found.n + 2}, other, sizeof(other)) >= 0 &&
            strcmp(other, name) == 0 && n++ == 0)
            first = v;
    FUZZ_CHECK(n != 0 && json_get(object, name).p == first.p);
    FUZZ_CHECK(json_get_many(object, &want, 1) == (n == 1 ? ERR_OK : ERR_INVALID_REQUEST));
}

static void compare_string(struct span raw, const char *theirs)
{
    char *out = mem_alloc(raw.n + 1);
    long n = json_string(raw, out, raw.n + 1);
    struct buf again;

    if (n >= 0) { /* else it holds U+0000 */
        FUZZ_CHECK(strcmp(out, theirs) == 0 && strlen(out) == (size_t)n);
        FUZZ_CHECK(json_is(raw, theirs));
        FUZZ_CHECK(json_is_id(raw));
        FUZZ_CHECK(json_string(raw, out, (size_t)n + 1) == n);
        FUZZ_CHECK(json_string(raw, out, (size_t)n) == -1);
        buf_init(&again, raw.n * 6 + 2);
        buf_add_json(&again, span_of(theirs));
        FUZZ_CHECK(buf_ok(&again) && json_check(buf_span(&again), NULL, NULL) == ERR_OK);
        FUZZ_CHECK(json_is(buf_span(&again), theirs));
        buf_fini(&again);
    } else {
        FUZZ_CHECK(!json_is_id(raw));
    }
    free(out);
}

static void compare_number(struct span raw, double theirs)
{
    int64_t whole;
    double v;

    FUZZ_CHECK(json_number(raw, &v) == (isfinite(theirs) != 0));
    if (isfinite(theirs))
        FUZZ_CHECK(!(v < theirs) && !(v > theirs));
    if (json_int(raw, &whole))
        FUZZ_CHECK(fabs((double)whole - v) <= fabs(v) * 1e-15);
    else if (isfinite(theirs) && raw.n <= 16) /* short enough for a double to tell */
        FUZZ_CHECK(fabs(v) >= 9.2e18 || fabs(v) < 1e-300 || trunc(v) < v || trunc(v) > v);
}

static void compare(struct span raw, const cJSON *theirs);

static void compare_container(struct span raw, const cJSON *theirs)
{
    const cJSON *it = theirs->child;
    size_t cursor = 0;
    unsigned looked_up = 0;
    struct span name;
    struct span v;

    while (json_next(raw, &cursor, &name, &v)) {
        if (it == NULL)
            abort(); /* we found a member that cJSON did not */
        FUZZ_CHECK(is_within(v, raw) && cursor <= raw.n);
        FUZZ_CHECK((name.p != NULL) == (it->string != NULL));
        if (name.p != NULL && it->string != NULL) {
            FUZZ_CHECK(is_within(name, raw));
            compare_string((struct span){name.p - 1, name.n + 2}, it->string);
            if (strlen(it->string) < 255 && looked_up++ < 8)
                compare_look_up(raw, it->string);
        }
        compare(v, it);
        it = it->next;
    }
    FUZZ_CHECK(it == NULL);
}

static void compare(struct span raw, const cJSON *theirs)
{
    bool truth = false;

    FUZZ_CHECK(json_check(raw, NULL, NULL) == ERR_OK);
    switch (json_type(raw)) {
    case JSON_OBJECT:
        FUZZ_CHECK(cJSON_IsObject(theirs));
        compare_container(raw, theirs);
        break;
    case JSON_ARRAY:
        FUZZ_CHECK(cJSON_IsArray(theirs));
        compare_container(raw, theirs);
        break;
    case JSON_STRING:
        FUZZ_CHECK(cJSON_IsString(theirs));
        compare_string(raw, theirs->valuestring);
        break;
    case JSON_NUMBER:
        FUZZ_CHECK(cJSON_IsNumber(theirs));
        compare_number(raw, theirs->valuedouble);
        break;
    case JSON_BOOL:
        FUZZ_CHECK(json_bool(raw, &truth) && truth == (cJSON_IsTrue(theirs) != 0));
        break;
    case JSON_NULL:
        FUZZ_CHECK(cJSON_IsNull(theirs));
        break;
    case JSON_NONE:
        FUZZ_CHECK(false);
    }
}

/* cJSON 1.7.15 takes no number of more than 63 characters. */
static bool has_long_number(struct span text)
{
    size_t run = 0;

    for (size_t i = 0; i < text.n; i++) {
        run = strchr("0123456789+-.eE", text.p[i]) != NULL && text.p[i] != '\0' ? run + 1 : 0;
        if (run > 60)
            return true;
    }
    return false;
}

/* --- what is refused: nothing reads past it ----------------------------------------------------
 */

static void look_anyway(struct span text, unsigned depth)
{
    struct json_want want[] = {{.name = "a"}, {.name = "method"}};
    struct span name;
    struct span v;
    size_t cursor = 0;
    size_t steps = 0;
    char out[16];
    int64_t whole;
    double d;

    (void)json_get(text, "a");
    if (json_get_many(text, want, 2) == ERR_OK && want[0].value.p != NULL)
        FUZZ_CHECK(is_within(want[0].value, text));
    (void)json_string(text, out, sizeof(out));
    (void)json_is(text, "a\n");
    (void)json_is_id(text);
    (void)json_int(text, &whole);
    (void)json_number(text, &d);
    while (json_next(text, &cursor, &name, &v)) {
        FUZZ_CHECK(is_within(v, text) && v.n != 0 && cursor <= text.n);
        FUZZ_CHECK(name.p == NULL || is_within(name, text));
        if (depth < 3 && steps++ < 8)
            look_anyway(v, depth + 1);
    }
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct span text = {(const char *)data, size};
    const char *why = NULL;
    size_t at = SIZE_MAX;
    enum err e;
    cJSON *theirs;

    if (size > (size_t)1 << 20)
        return 0;
    e = json_check(text, &why, &at);
    FUZZ_CHECK(e == json_second_reading(text));
    if (e != ERR_OK) {
        FUZZ_CHECK(why != NULL && at <= size);
        look_anyway(text, 0);
        return 0;
    }
    FUZZ_CHECK(why == NULL && at == SIZE_MAX);
    theirs = cJSON_ParseWithLength(text.p, text.n);
    if (theirs != NULL)
        compare(text, theirs);
    else
        FUZZ_CHECK(has_long_number(text));
    cJSON_Delete(theirs);
    return 0;
}
