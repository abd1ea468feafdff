#include "worker/pointer.h"

#include "tests/lib/test.h"

static const char doc[] =
    "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8,\"o\":{\"i\":[{\"x\":"
    "\"y\"}]},\"01\":2}";

static bool leads(const char *pointer, const char *to)
{
    return pointer_is_one(pointer) && span_is(pointer_at(span_of(doc), pointer), to);
}

static bool leads_nowhere(const char *pointer)
{
    return pointer_at(span_of(doc), pointer).p == NULL;
}

TEST(a_pointer_leads_to_what_RFC_6901_says)
{
    CHECK(leads("", doc));
    CHECK(leads("/foo", "[\"bar\",\"baz\"]"));
    CHECK(leads("/foo/0", "\"bar\"") && leads("/foo/1", "\"baz\""));
    CHECK(leads("/", "0"));
    CHECK(leads("/a~1b", "1") && leads("/m~0n", "8"));
    CHECK(leads("/o/i/0/x", "\"y\""));
    CHECK(leads("/01", "2"));
}

TEST(a_pointer_may_lead_nowhere)
{
    CHECK(leads_nowhere("/bar") && leads_nowhere("/foo/2") && leads_nowhere("/foo/00"));
    CHECK(leads_nowhere("/foo/-") && leads_nowhere("/foo/0/x") && leads_nowhere("/foo/1x"));
    CHECK(leads_nowhere("/foo/9999999999999999999") && leads_nowhere("/o/i/"));
}

TEST(what_is_no_pointer_is_seen)
{
    CHECK(!pointer_is_one("foo") && !pointer_is_one("/a~") && !pointer_is_one("/a~2b"));
    CHECK(pointer_is_one("/a~0~1"));
}
