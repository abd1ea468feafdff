/* The official JSON-Schema-Test-Suite: every required test for the keywords that are supported. */
#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/schema.h"
#include "tests/lib/test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Debian: libtest-json-schema-acceptance-perl has all dialects, json-schema-test-suite those up to
 * draft-07. JSON_SCHEMA_TEST_SUITE names a checkout's folder of that kind. */
static const char *const places[] = {
    "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests",
    "/usr/share/json-schema-test-suite/tests",
};

struct tally {
    size_t passed;
    size_t failed;
    size_t refused; /* tests of schemas that use what is not supported */
};

static void read_file(struct buf *out, const char *path)
{
    FILE *f = fopen(path, "rb");
    char room[65536];
    size_t n;

    REQUIRE(f != NULL);
    while ((n = fread(room, 1, sizeof(room), f)) > 0)
        buf_add(out, room, n);
    (void)fclose(f);
}

/* What this suite does not name is in its dialect: a schema of another draft says so. */
static struct span in_dialect(struct buf *out, struct span schema, const char *uri)
{
    if (json_type(schema) != JSON_OBJECT || json_get(schema, "$schema").p != NULL)
        return schema;
    buf_addf(out, "{\"$schema\":\"%s\"%s", uri, schema.n > 2 ? "," : "");
    buf_add(out, schema.p + 1, schema.n - 1);
    return json_check(buf_span(out), NULL, NULL) == ERR_OK ? buf_span(out) : schema;
}

/* The keywords of which there is no support, and what lies outside of the document. */
static bool may_be_refused(const char *why)
{
    static const char *const reasons[] = {
        "$dynamicRef", "$dynamicAnchor",     "$recursiveRef", "$recursiveAnchor",
        "$vocabulary", "nothing is fetched", "dialect"};

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strstr(why, reasons[i]) != NULL)
            return true;
    return false;
}

static void run_one(const struct schema *s, const char *file, struct span group, struct span test,
                    struct tally *t)
{
    bool valid = false;
    struct buf why;
    bool fits;

    (void)json_bool(json_get(test, "valid"), &valid);
    buf_init(&why, 65536);
    fits = schema_check(s, json_get(test, "data"), &why);
    CHECK(fits == (why.n == 0));
    if (fits == valid) {
        t->passed++;
    } else {
        struct span of = json_get(group, "description");
        struct span says = json_get(test, "description");

        t->failed++;
        printf("%s: %.*s: %.*s: %s\n", file, (int)of.n, of.p, (int)says.n, says.p,
               why.n != 0 ? why.p : "fits");
    }
    buf_fini(&why);
}

static size_t count(struct span list)
{
    struct span name;
    struct span item;
    size_t cursor = 0;
    size_t n = 0;

    while (json_next(list, &cursor, &name, &item))
        n++;
    return n;
}

static void run_group(const char *file, const char *uri, struct span group, struct tally *t)
{
    struct span tests = json_get(group, "tests");
    struct span name;
    struct span test;
    struct schema *s;
    struct buf text;
    struct buf why;
    size_t cursor = 0;

    buf_init(&text, 1 << 20);
    buf_init(&why, 65536);
    s = schema_new(in_dialect(&text, json_get(group, "schema"), uri), &why);
    if (s == NULL) {
        struct span of = json_get(group, "description");
        bool expected = may_be_refused(why.p);

        printf("%s%s: %.*s: %s\n", expected ? "not supported: " : "FAILED ", file, (int)of.n, of.p,
               why.p);
        t->refused += count(tests);
        t->failed += expected ? 0 : count(tests);
    }
    while (s != NULL && json_next(tests, &cursor, &name, &test))
        run_one(s, file, group, test, t);
    schema_free(s);
    buf_fini(&why);
    buf_fini(&text);
}

static void run_file(const char *path, const char *uri, struct tally *t)
{
    const char *file = strrchr(path, '/') + 1;
    struct buf text;
    struct span group;
    struct span name;
    size_t cursor = 0;

    buf_init(&text, 8 << 20);
    read_file(&text, path);
    CHECK(json_check_limits(buf_span(&text), 0, 0, NULL, NULL) == ERR_OK);
    while (json_next(buf_span(&text), &cursor, &name, &group))
        run_group(file, uri, group, t);
    buf_fini(&text);
}

static void run_dialect(const char *folder, const char *uri, size_t least)
{
    const char *own = getenv("JSON_SCHEMA_TEST_SUITE");
    const char *const first = own != NULL ? own : places[0];
    struct tally t = {0, 0, 0};
    char pattern[4096];
    glob_t found;

    (void)snprintf(pattern, sizeof(pattern), "%s/%s/*.json", first, folder);
    if (glob(pattern, 0, NULL, &found) != 0) {
        (void)snprintf(pattern, sizeof(pattern), "%s/%s/*.json", places[1], folder);
        if (glob(pattern, 0, NULL, &found) != 0) {
            printf("skipped: no %s in %s; install libtest-json-schema-acceptance-perl\n", folder,
                   first);
            return;
        }
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_file(found.gl_pathv[i], uri, &t);
    globfree(&found);
    printf("%s: %zu passed, %zu failed, %zu not supported\n", folder, t.passed, t.failed,
           t.refused);
    CHECK(t.failed == 0);
    CHECK(t.passed >= least);
}

TEST(W_04_the_official_suite_of_2020_12_passes)
{
    run_dialect("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1000);
}

TEST(W_04_the_official_suite_of_2019_09_passes)
{
    run_dialect("draft2019-09", "https://json-schema.org/draft/2019-09/schema", 1000);
}

TEST(W_04_the_official_suite_of_draft_07_passes)
{
    run_dialect("draft7", "http://json-schema.org/draft-07/schema#", 700);
}
