/* Two lines: a schema and a value. Neither crashes anything, a verdict has a sentence exactly when
 * it is no, and asking twice gives the same answer. */
#include "tests/fuzz/fuzz.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/schema.h"

#include <string.h>

static void check(const struct schema *s, struct span instance)
{
    struct buf again;
    struct buf why;
    bool fits;

    buf_init(&again, 65536);
    buf_init(&why, 65536);
    fits = schema_check(s, instance, &why);
    FUZZ_CHECK(fits == (why.n == 0));
    if (schema_is_open(s) && json_type(instance) == JSON_OBJECT)
        FUZZ_CHECK(fits || strstr(why.p, "cannot be checked") != NULL);
    if (fits || strstr(why.p, "too long") == NULL) { /* a limit of time may strike at will */
        bool the_same = schema_check(s, instance, &again) == fits && again.n == why.n;

        FUZZ_CHECK(the_same || (again.n != 0 && strstr(again.p, "too long") != NULL));
    }
    buf_fini(&why);
    buf_fini(&again);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *line = size != 0 ? memchr(text, '\n', size) : NULL;
    struct span first = {text, line != NULL ? (size_t)(line - text) : size};
    struct span second = {"{}", 2};
    struct schema *s;
    struct buf why;

    if (line != NULL)
        second = (struct span){line + 1, size - first.n - 1};
    if (size > 65536 || json_check(first, NULL, NULL) != ERR_OK ||
        json_check(second, NULL, NULL) != ERR_OK)
        return 0;
    buf_init(&why, 65536);
    s = schema_new(first, &why);
    FUZZ_CHECK((s == NULL) == (why.n != 0));
    if (s != NULL)
        check(s, second);
    schema_free(s);
    buf_fini(&why);
    return 0;
}
