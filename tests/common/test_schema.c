#include "common/schema.h"

#include "common/clock.h"
#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct schema *make(const char *text)
{
    struct schema *s;
    struct buf why;

    CHECK(json_check(span_of(text), NULL, NULL) == ERR_OK);
    buf_init(&why, 4096);
    s = schema_new(span_of(text), &why);
    if (s == NULL)
        printf("%s\n%s\n", text, why.p);
    buf_fini(&why);
    return s;
}

/* says: the whole sentence, or NULL when it fits. */
static bool says(const char *schema, const char *instance, const char *sentence)
{
    struct schema *s = make(schema);
    struct buf why;
    bool ok;

    if (s == NULL || json_check(span_of(instance), NULL, NULL) != ERR_OK)
        return false;
    buf_init(&why, 4096);
    ok = schema_check(s, span_of(instance), &why);
    ok = sentence == NULL ? ok : !ok && strcmp(why.p, sentence) == 0;
    if (!ok)
        printf("%s\n%s\n%s\n", schema, instance, why.n != 0 ? why.p : "it fits");
    buf_fini(&why);
    schema_free(s);
    return ok;
}

static bool refused(const char *schema, const char *sentence)
{
    struct schema *s;
    struct buf why;
    bool ok;

    CHECK(json_check(span_of(schema), NULL, NULL) == ERR_OK);
    buf_init(&why, 4096);
    s = schema_new(span_of(schema), &why);
    ok = s == NULL && strstr(why.p, sentence) != NULL;
    if (!ok)
        printf("%s\n%s\n", schema, why.n != 0 ? why.p : "it is accepted");
    schema_free(s);
    buf_fini(&why);
    return ok;
}

#define OBJECT(more) "{\"type\":\"object\",\"properties\":{\"a\":" more "}}"

TEST(W_16_a_sentence_says_which_field_what_was_found_and_what_is_expected)
{
    CHECK(says(OBJECT("{\"type\":\"integer\"}"), "{\"a\":\"x\"}",
               "\"/a\" must be an integer, but is the string \"x\""));
    CHECK(says(OBJECT("{\"type\":[\"string\",\"null\"]}"), "{\"a\":[1,2]}",
               "\"/a\" must be null or a string, but is a list of 2"));
    CHECK(says(OBJECT("{\"maximum\":10}"), "{\"a\":11}",
               "\"/a\" must be at most 10, but is the number 11"));
    CHECK(says(OBJECT("{\"minLength\":2}"), "{\"a\":\"\\u00e9\"}",
               "\"/a\" must have at least 2 characters, but is the string \"\\u00e9\""));
    CHECK(says(OBJECT("{\"pattern\":\"^b+$\"}"), "{\"a\":\"abc\"}",
               "\"/a\" must match the pattern \"^b+$\", but is the string \"abc\""));
    CHECK(says(OBJECT("{\"enum\":[\"x\",\"y\",3]}"), "{\"a\":true}",
               "\"/a\" must be one of \"x\", \"y\" or 3, but is true"));
    CHECK(says(OBJECT("{\"items\":{\"type\":\"object\",\"required\":[\"b/c\"]}}"),
               "{\"a\":[{\"b/c\":1},{}]}", "\"/a/1/b~1c\" is missing"));
    CHECK(says("{\"type\":\"object\"}", "[]", "the whole must be an object, but is a list of 0"));
    CHECK(says("{\"properties\":{\"a\":{},\"b\":{}},\"additionalProperties\":false}", "{\"c\":1}",
               "\"/c\" is not allowed; there is \"a\" and \"b\""));
    CHECK(says("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
               "\"/b\" is missing, which is required because of \"a\""));
    CHECK(says("{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}",
               "the name \"abc\" must have at most 2 characters, but is that"));
    CHECK(says(OBJECT("{\"uniqueItems\":true}"), "{\"a\":[{\"x\":1,\"y\":2},{\"y\":2.0,\"x\":1}]}",
               "\"/a/1\" is there twice: {\"y\":2.0,\"x\":1}"));
    CHECK(says(OBJECT("{\"contains\":{\"const\":1},\"minContains\":2}"), "{\"a\":[1,2]}",
               "\"/a\" must have at least 2 items that fit {\"const\":1}, but has 1"));
    CHECK(says(OBJECT("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}"), "{\"a\":1}",
               "\"/a\" fits none of 2 alternatives: \"/a\" must be a string, but is the number 1; "
               "or: \"/a\" must be null, but is the number 1"));
    CHECK(says(OBJECT("{\"oneOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}"), "{\"a\":1}",
               "\"/a\" must fit exactly one of 2 alternatives, but fits 2"));
    CHECK(says(OBJECT("{\"not\":{\"type\":\"null\"}}"), "{\"a\":null}",
               "\"/a\" must not fit {\"type\":\"null\"}, but is null"));
}

TEST(W_16_what_is_shown_is_cut_between_characters)
{
    struct schema *s = make(OBJECT("{\"type\":\"number\"}"));
    struct buf text;
    struct buf why;

    buf_init(&text, 4096);
    buf_adds(&text, "{\"a\":\"");
    for (int i = 0; i < 100; i++)
        buf_adds(&text, "\xc3\xa9");
    buf_adds(&text, "\"}");
    buf_init(&why, 4096);
    CHECK(!schema_check(s, buf_span(&text), &why));
    CHECK(strstr(why.p, "\xc3\xa9...") != NULL && strlen(why.p) < 150);
    buf_fini(&why);
    buf_fini(&text);
    schema_free(s);
}

TEST(numbers_are_compared_by_value_and_large_integers_exactly)
{
    CHECK(says("{\"type\":\"integer\"}", "1.0", NULL));
    CHECK(says("{\"type\":\"integer\"}", "1e300", NULL));
    CHECK(says("{\"type\":\"integer\"}", "123456789012345678901234567890", NULL));
    CHECK(says("{\"const\":9007199254740993}", "9007199254740993", NULL));
    CHECK(says("{\"const\":9007199254740993}", "9007199254740992",
               "the whole must be 9007199254740993, but is the number 9007199254740992"));
    CHECK(says("{\"maximum\":9223372036854775806}", "9223372036854775807",
               "the whole must be at most 9223372036854775806, but is the number "
               "9223372036854775807"));
    CHECK(says("{\"multipleOf\":0.01}", "19.99", NULL));
    CHECK(says("{\"multipleOf\":0.01}", "19.995",
               "the whole must be a multiple of 0.01, but is the number 19.995"));
    CHECK(says("{\"maximum\":1}", "1e400", "the whole must be at most 1, but is the number 1e400"));
}

TEST(W_04_a_keyword_without_support_is_refused_by_name)
{
    CHECK(refused(OBJECT("{\"$dynamicRef\":\"#x\"}"),
                  "\"/properties/a\": \"$dynamicRef\" is a keyword that is not supported"));
    CHECK(refused("{\"$vocabulary\":{}}", "\"$vocabulary\" is a keyword that is not supported"));
    CHECK(refused("{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","
                  "\"$recursiveRef\":\"#\"}",
                  "\"$recursiveRef\" is a keyword"));
    CHECK(
        refused("{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "\"$schema\" names"));
    CHECK(refused(OBJECT("{\"$ref\":\"https://example.com/x.json\"}"), "nothing is fetched"));
    CHECK(refused(OBJECT("{\"$ref\":\"#/$defs/none\"}"), "\"$ref\" points at nothing"));
}

TEST(W_04_a_schema_that_is_none_is_refused)
{
    CHECK(refused("3", "a schema is an object"));
    CHECK(refused("{\"type\":\"strin\"}", "\"type\" must be"));
    CHECK(refused("{\"minLength\":-1}", "\"minLength\" must be a whole number"));
    CHECK(refused("{\"minLength\":\"1\"}", "\"minLength\" must be a whole number"));
    CHECK(refused("{\"multipleOf\":0}", "\"multipleOf\" must be a number greater than 0"));
    CHECK(refused("{\"required\":true}", "\"required\" must be a list of names"));
    CHECK(refused("{\"properties\":[]}", "\"properties\" must be an object"));
    CHECK(refused("{\"properties\":{\"a\":1}}", "\"properties\" must be an object of schemas"));
    CHECK(refused("{\"allOf\":[]}", "\"allOf\" must be a list"));
    CHECK(refused("{\"items\":[{}]}", "\"prefixItems\" in 2020-12"));
    CHECK(refused("{\"pattern\":\"(\"}", "\"pattern\" is no regular expression"));
    CHECK(refused("{\"patternProperties\":{\"[\":{}}}", "no regular expression"));
    CHECK(refused("{\"a\":1,\"a\":2}", "two members of one name"));
    CHECK(refused("{\"$defs\":{\"a\":{\"type\":7}}}", "\"/$defs/a\": \"type\" must be"));
}

TEST(words_that_no_dialect_knows_are_annotations)
{
    CHECK(says("{\"x-mcp-header\":\"A\",\"format\":\"email\",\"contentEncoding\":\"base64\","
               "\"widget\":[1]}",
               "\"no mail\"", NULL));
}

TEST(W_04_the_dialect_of_a_schema_is_its_own)
{
#define OLD "\"$schema\":\"http://json-schema.org/draft-07/schema#\""
    CHECK(says("{" OLD ",\"items\":[{\"type\":\"null\"}],\"additionalItems\":false}", "[null,1]",
               "\"/1\" is not allowed"));
    CHECK(says("{" OLD ",\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", NULL));
    CHECK(says("{" OLD
               ",\"$ref\":\"#/definitions/x\",\"type\":\"null\",\"definitions\":{\"x\":{}}}",
               "1", NULL));
    CHECK(says("{" OLD ",\"dependencies\":{\"a\":[\"b\"]}}", "{\"a\":1}",
               "\"/b\" is missing, which is required because of \"a\""));
}

TEST(only_a_schema_that_asks_for_no_more_than_an_object_is_open)
{
    static const struct {
        const char *schema;
        bool open;
    } cases[] = {
        {"{\"type\":\"object\"}", true},
        {"{\"type\":\"object\",\"title\":\"x\",\"$defs\":{\"a\":{\"type\":\"null\"}}}", true},
        {"true", true},
        {"false", false},
        {"{\"type\":\"string\"}", false},
        {"{\"type\":\"object\",\"properties\":{}}", false},
        {"{\"type\":\"object\",\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{}}}", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct schema *s = make(cases[i].schema);

        CHECK(schema_is_open(s) == cases[i].open);
        schema_free(s);
    }
}

TEST(two_members_of_one_name_fit_nothing)
{
    CHECK(says("{\"maxProperties\":5}", "{\"a\":1,\"\\u0061\":2}",
               "it cannot be checked: an object has two members of one name"));
    CHECK(says("{}",
               "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"1\":1}",
               "it cannot be checked: an object has two members of one name"));
}

TEST(strings_are_compared_decoded_with_all_their_characters)
{
    CHECK(says("{\"const\":\"a\\u0000b\"}", "\"a\\u0000\\u0062\"", NULL));
    CHECK(says("{\"const\":\"\\ud83d\\ude00/\"}", "\"\xf0\x9f\x98\x80\\/\"", NULL));
    CHECK(says("{\"maxLength\":3}", "\"\\ud83d\\ude00\\u0000b\"", NULL));
    CHECK(says("{\"const\":\"a\\u0000b\"}", "\"a\\u0000c\"",
               "the whole must be \"a\\u0000b\", but is the string \"a\\u0000c\""));
    CHECK(says("{\"pattern\":\"^a.b$\"}", "\"a\\u0000b\"", NULL));
    CHECK(says("{\"pattern\":\"^a$\"}", "\"a\\n\"",
               "the whole must match the pattern \"^a$\", but is the string \"a\\n\""));
    CHECK(says("{\"required\":[\"\\u00e9\"]}", "{\"\xc3\xa9\":1}", NULL));
}

static bool stops(const char *schema, const char *instance, const char *why_part)
{
    struct schema *s = make(schema);
    const uint64_t start = clock_cpu_us();
    struct buf why;
    bool ok;

    buf_init(&why, 4096);
    ok = !schema_check(s, span_of(instance), &why) && strstr(why.p, why_part) != NULL;
    if (!ok)
        printf("%s: %s\n", schema, why.n != 0 ? why.p : "it fits");
    CHECK(clock_cpu_us() - start < 5000000);
    buf_fini(&why);
    schema_free(s);
    return ok;
}

TEST(S_11_depth_work_and_time_are_bounded)
{
    struct buf many;

    CHECK(stops("{\"$ref\":\"#\"}", "1", "round in circles"));
    CHECK(stops("{\"not\":{\"$ref\":\"#\"}}", "1", "round in circles"));
    CHECK(stops("{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
                "a pattern takes too long"));
    CHECK(stops("{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"},{\"$ref\":\"#/$defs/b\"}]},"
                "\"b\":{\"anyOf\":[{\"$ref\":\"#/$defs/c\"},{\"$ref\":\"#/$defs/c\"}]},"
                "\"c\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"}]}},"
                "\"$ref\":\"#/$defs/a\"}",
                "1", "it cannot be checked"));
    buf_init(&many, 1 << 20);
    buf_addc(&many, '"');
    while (many.n < 200000)
        buf_addc(&many, 'a');
    buf_addc(&many, '"');
    CHECK(stops("{\"pattern\":\"(a|a)*[bc]\"}", many.p, "a pattern takes too long"));
    many.n = 20000;
    buf_addc(&many, '"');
    CHECK(says("{\"pattern\":\"a$\",\"minLength\":5}", many.p, NULL));
    buf_fini(&many);
}

TEST(S_11_each_name_that_others_depend_on_is_a_step)
{
    struct buf schema;
    struct buf many;

    buf_init(&schema, 1 << 20);
    buf_adds(&schema, "{\"items\":{\"dependentRequired\":{\"k\":[]");
    for (int i = 0; i < 3000; i++)
        buf_addf(&schema, ",\"k%d\":[]", i);
    buf_adds(&schema, "}}}");
    buf_init(&many, 1 << 20);
    buf_adds(&many, "[0");
    for (int i = 0; i < 1000; i++)
        buf_adds(&many, ",{\"z\":1}");
    buf_addc(&many, ']');
    CHECK(stops(schema.p, many.p, "too many steps"));
    buf_fini(&many);
    buf_fini(&schema);
}

TEST(a_long_list_of_equal_looking_items_is_compared_in_good_time)
{
    struct schema *s = make("{\"uniqueItems\":true}");
    const uint64_t start = clock_cpu_us();
    struct buf many;
    struct buf why;

    buf_init(&many, 1 << 20);
    buf_adds(&many, "[0");
    for (int i = 1; i < 40000; i++)
        buf_addf(&many, ",[%d,\"x\"]", i);
    buf_addc(&many, ']');
    buf_init(&why, 4096);
    CHECK(schema_check(s, buf_span(&many), &why));
    CHECK(clock_cpu_us() - start < 5000000);
    buf_fini(&why);
    buf_fini(&many);
    schema_free(s);
}
