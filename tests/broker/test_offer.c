#include "broker/offer.h"
#include "tests/lib/test.h"

#include <string.h>

#define CAPS "{\"resources\":{\"subscribe\":true},\"prompts\":{},\"completions\":{}}"

static struct registry_tool entry(const char *name, const char *definition)
{
    return (struct registry_tool){
        .name = span_of(name),
        .definition = span_of(definition),
        .policy = SPAN("{\"prefix\":\"p_\",\"attempts\":2,\"capabilities\":" CAPS "}")};
}

static void add(struct offers *o, const char *name, const char *definition)
{
    struct registry_tool e = entry(name, definition);

    offers_add(o, &e);
}

static const char *routed(const struct offers *o, const char *uri)
{
    const struct offer *of = offers_route(o, span_of(uri));

    return of != NULL ? of->server : "nobody";
}

TEST(C_02_items_are_sorted_and_of_two_servers_the_first_by_name_lists_one)
{
    struct offers *o = offers_new();

    add(o, "@two", "{\"resources\":[{\"uri\":\"x://b\"},{\"uri\":\"x://a\",\"n\":2}]}");
    add(o, "@one", "{\"resources\":[{\"uri\":\"x://c\"},{ \"uri\" : \"x:\\/\\/a\" }]}");
    offers_sort(o);
    REQUIRE(offers_count(o, OFFER_RESOURCE) == 3 && offers_servers(o) == 2);
    CHECK(strcmp(offers_at(o, OFFER_RESOURCE, 0)->key, "x://a") == 0);
    CHECK(span_is(offers_at(o, OFFER_RESOURCE, 0)->raw, "{ \"uri\" : \"x:\\/\\/a\" }"));
    CHECK(strcmp(offers_at(o, OFFER_RESOURCE, 2)->key, "x://c") == 0);
    CHECK(offers_after(o, OFFER_RESOURCE, SPAN("x://a")) == 1);
    CHECK(offers_after(o, OFFER_RESOURCE, SPAN("x://aa")) == 1);
    CHECK(offers_find(o, OFFER_RESOURCE, SPAN("x://aa")) == NULL);
    CHECK(strcmp(routed(o, "x://a"), "one") == 0 && strcmp(routed(o, "x://b"), "two") == 0);
    CHECK(strcmp(offers_server(o, 0)->job, "@one") == 0 && offers_server(o, 0)->attempts == 2);
    offers_free(o);
}

TEST(an_address_is_its_listers_then_its_templates_then_its_schemes)
{
    struct offers *o = offers_new();

    add(o, "@b",
        "{\"resources\":[{\"uri\":\"x://listed\"}],"
        "\"resourceTemplates\":[{\"uriTemplate\":\"y://{id}\"}]}");
    add(o, "@a",
        "{\"resources\":[{\"uri\":\"x://other\"}],"
        "\"resourceTemplates\":[{\"uriTemplate\":\"y://{+all}\"}]}");
    offers_sort(o);
    CHECK(strcmp(routed(o, "x://listed"), "b") == 0);
    CHECK(strcmp(routed(o, "x://unlisted"), "a") == 0);
    CHECK(strcmp(routed(o, "y://1"), "a") == 0);
    CHECK(strcmp(routed(o, "y:"), "a") == 0);
    CHECK(strcmp(routed(o, "xx://listed"), "nobody") == 0);
    CHECK(strcmp(routed(o, "no address"), "nobody") == 0 && strcmp(routed(o, ""), "nobody") == 0);
    offers_free(o);
}

TEST(what_is_no_announcement_is_left_out)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{}x",
                                      "{\"resources\":5}",
                                      "{\"resources\":[5,{},{\"uri\":5},{\"uri\":\"\"}]}"};
    struct offers *o = offers_new();
    struct registry_tool e = entry("@s", "{\"resources\":[{\"uri\":\"x:a\"}]}");

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        add(o, "@s", bad[i]);
    e.policy = SPAN("{\"capabilities\":{\"prompts\":{}}}");
    offers_add(o, &e);
    e.policy = SPAN("nothing");
    offers_add(o, &e);
    add(o, "@", "{\"resources\":[{\"uri\":\"x:a\"}]}");
    offers_sort(o);
    CHECK(offers_count(o, OFFER_RESOURCE) == 0);
    CHECK(strcmp(routed(o, "x:a"), "nobody") == 0);
    offers_free(o);
}

TEST(any_byte_that_differs_is_a_change)
{
    struct offers *a = offers_new();
    struct offers *b = offers_new();

    CHECK(offers_same(a, b, OFFER_PROMPT));
    add(a, "@s", "{\"prompts\":[{\"name\":\"p\"}],\"resources\":[{\"uri\":\"x:a\"}]}");
    add(b, "@s", "{\"prompts\":[{\"name\":\"p\" }],\"resources\":[{\"uri\":\"x:a\"}]}");
    offers_sort(a);
    offers_sort(b);
    CHECK(!offers_same(a, b, OFFER_PROMPT));
    CHECK(offers_same(a, b, OFFER_RESOURCE));
    offers_free(a);
    offers_free(b);
}
