#include "deploy/cli/field.h"

#include "tests/lib/test.h"

#include <string.h>

static char *items[4];

static bool schema_is(const char *field, const char *property)
{
    struct cfg_list list = {items, 1};
    struct buf out;
    struct buf why;
    bool ok;

    items[0] = (char *)(uintptr_t)field;
    buf_init(&out, 4096);
    buf_init(&why, 4096);
    ok = field_schema(&out, &list, &why) && strstr(out.p, property) != NULL;
    buf_fini(&out);
    buf_fini(&why);
    return ok;
}

static bool is_refused(const char *field)
{
    struct cfg_list list = {items, 1};
    struct buf out;
    struct buf why;
    bool refused;

    items[0] = (char *)(uintptr_t)field;
    buf_init(&out, 4096);
    buf_init(&why, 4096);
    refused = !field_schema(&out, &list, &why) && why.n > 0;
    buf_fini(&out);
    buf_fini(&why);
    return refused;
}

TEST(each_kind_of_field_is_a_property)
{
    CHECK(schema_is("a:string", "{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}"));
    CHECK(schema_is("a?:number=1.5", "{\"a\":{\"type\":\"number\",\"default\":1.5}}}"));
    CHECK(schema_is("a:boolean=true", "\"default\":true"));
    CHECK(schema_is("a:string=b=c", "\"default\":\"b=c\""));
    CHECK(schema_is("a:date", "{\"type\":\"string\",\"format\":\"date\"}"));
    CHECK(schema_is("a:x|y|z", "\"enum\":[\"x\",\"y\",\"z\"]"));
    CHECK(schema_is("a \"b\":string", "\"a \\\"b\\\"\""));
}

TEST(what_is_no_field_is_refused)
{
    CHECK(is_refused("a"));
    CHECK(is_refused(":string"));
    CHECK(is_refused("?:string"));
    CHECK(is_refused("a:"));
    CHECK(is_refused("a:=x"));
    CHECK(is_refused("a:password"));
    CHECK(is_refused("a:integer=x"));
}
