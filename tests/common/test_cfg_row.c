#include "common/cfg_row.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

struct conf {
    struct cfg_base base;
    char *text;
    char *choice;
    uint64_t number;
    bool flag;
    struct cfg_list list;
};

enum { TEXT, CHOICE, TIME, SIZE, COUNT, RATE, FLAG, LIST };

static const struct cfg_row rows[] = {
    {"prefix", CFG_TEXT, offsetof(struct conf, text), NULL, 1, 8, NULL, ""},
    {"auth", CFG_TEXT, offsetof(struct conf, choice), NULL, 0, 0, "none|key|jwt", ""},
    {"lease", CFG_TIME, offsetof(struct conf, number), NULL, 1000, 3600000, NULL, ""},
    {"max-body", CFG_SIZE, offsetof(struct conf, number), NULL, 1024, 0, NULL, ""},
    {"page-size", CFG_COUNT, offsetof(struct conf, number), NULL, 0, 100, NULL, ""},
    {"rate", CFG_RATE, offsetof(struct conf, number), NULL, 0, 1000000, NULL, ""},
    {"facade", CFG_BOOL, offsetof(struct conf, flag), NULL, 0, 0, NULL, ""},
    {"tools", CFG_LIST, offsetof(struct conf, list), NULL, 0, 0, NULL, ""},
};

static const struct cfg table = {"errand-test", "tests", rows, sizeof(rows) / sizeof(rows[0]),
                                 NULL,          NULL,    NULL};

static void clear(struct conf *c)
{
    for (size_t i = 0; i < table.count; i++)
        cfg_row_clear(&rows[i], c);
}

static const struct {
    unsigned row;
    const char *text;
    const char *sentence; /* NULL: it is right */
} values[] = {
    {TEXT, "a", NULL},
    {TEXT, "12345678", NULL},
    {TEXT, "", "must not be empty"},
    {TEXT, "123456789", "is longer than 8 bytes"},
    {CHOICE, "none", NULL},
    {CHOICE, "jwt", NULL},
    {CHOICE, "", "\"\" is not one of none, key, jwt"},
    {CHOICE, "ke", "\"ke\" is not one of none, key, jwt"},
    {CHOICE, "none|key", "is not one of"},
    {CHOICE, "None", "is not one of"},
    {TIME, "1s", NULL},
    {TIME, "1h", NULL},
    {TIME, "999ms", "\"999ms\" is too small; the least is 1s"},
    {TIME, "0", "\"0\" is too small; the least is 1s"},
    {TIME, "2h", "\"2h\" is too large; the most is 1h"},
    {TIME, "10", "has no unit"},
    {SIZE, "1023", "is too small; the least is 1k"},
    {SIZE, "1000g", NULL},
    {COUNT, "0", NULL},
    {COUNT, "101", "is too large; the most is 100"},
    {RATE, "0", NULL},
    {RATE, "1001/s", "is too large; the most is 1000/s"},
    {FLAG, "on", NULL},
    {FLAG, "off", NULL},
    {FLAG, "true", "\"true\" is not one of on, off"},
    {LIST, "a", NULL},
    {LIST, "a,b", NULL},
    {LIST, "", "has an empty item"},
    {LIST, ",a", "has an empty item"},
    {LIST, "a,", "has an empty item"},
    {LIST, "a,,b", "\"a,,b\" has an empty item; write the items with one comma between them"},
};

TEST(values_are_checked_where_they_are_set)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct conf c = {.number = 0};
        struct buf why;

        buf_init(&why, 1000);
        CHECK(cfg_row_set(&rows[values[i].row], &c, values[i].text, &why) ==
              (values[i].sentence == NULL));
        CHECK((why.n == 0) == (values[i].sentence == NULL));
        if (values[i].sentence != NULL && why.n != 0)
            CHECK(strstr(why.p, values[i].sentence) != NULL);
        buf_fini(&why);
        clear(&c);
    }
}

TEST(a_field_has_the_last_value_and_a_mistake_changes_nothing)
{
    struct conf c = {.number = 0};
    struct buf why;

    buf_init(&why, 1000);
    CHECK(cfg_row_set(&rows[TEXT], &c, "one", &why) && cfg_row_set(&rows[TEXT], &c, "two", &why));
    CHECK(!cfg_row_set(&rows[TEXT], &c, "", &why));
    CHECK(strcmp(c.text, "two") == 0);
    CHECK(cfg_row_set(&rows[TIME], &c, "2s", &why) && !cfg_row_set(&rows[TIME], &c, "2", &why));
    CHECK(c.number == 2000);
    CHECK(cfg_row_set(&rows[FLAG], &c, "on", &why) && c.flag);
    CHECK(cfg_row_set(&rows[FLAG], &c, "off", &why) && !c.flag);
    clear(&c);
    CHECK(c.text == NULL && c.number == 0);
    buf_fini(&why);
}

TEST(a_list_grows_by_the_items_between_commas)
{
    struct conf c = {.number = 0};
    struct buf why;

    buf_init(&why, 1000);
    CHECK(cfg_row_set(&rows[LIST], &c, "a,bc", &why) && cfg_row_set(&rows[LIST], &c, "d", &why));
    cfg_row_add(&rows[LIST], &c, "e,f");
    REQUIRE(c.list.n == 4);
    CHECK(strcmp(c.list.items[0], "a") == 0 && strcmp(c.list.items[1], "bc") == 0);
    CHECK(strcmp(c.list.items[2], "d") == 0 && strcmp(c.list.items[3], "e,f") == 0);
    clear(&c);
    CHECK(c.list.n == 0 && c.list.items == NULL);
    buf_fini(&why);
}

TEST(the_text_of_an_option_without_choices_is_never_shown)
{
    struct conf c = {.number = 0};
    struct buf why;

    buf_init(&why, 1000);
    CHECK(!cfg_row_set(&rows[TEXT], &c, "hunter2hunter2", &why));
    CHECK(strstr(why.p, "hunter2") == NULL);
    buf_fini(&why);
}

TEST(a_row_is_found_by_its_whole_name_and_suggested_by_a_near_one)
{
    static const struct {
        const char *name;
        const char *near;
    } names[] = {{"lese", "lease"},
                 {"leases", "lease"},
                 {"max_body", "max-body"},
                 {"tool", "tools"},
                 {"xyz", NULL},
                 {"a", NULL},
                 {"maximal-body", NULL},
                 {"", NULL},
                 {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL}};

    CHECK(cfg_row_find(rows, table.count, SPAN("lease")) == &rows[TIME]);
    CHECK(cfg_row_find(rows, table.count, SPAN("leas")) == NULL);
    CHECK(cfg_row_find(rows, table.count, SPAN("")) == NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *near = cfg_row_near(&table, span_of(names[i].name));

        CHECK((near == NULL) == (names[i].near == NULL));
        CHECK(near == NULL || names[i].near == NULL || strcmp(near, names[i].near) == 0);
    }
}

TEST(a_variable_is_the_name_in_capitals_with_underscores)
{
    struct buf out;

    buf_init(&out, 100);
    cfg_row_variable(&out, &rows[SIZE]);
    CHECK(strcmp(out.p, "ERRAND_MAX_BODY") == 0);
    buf_fini(&out);
}

TEST(only_numbers_have_units)
{
    CHECK(cfg_row_unit(&rows[TIME]) == CFG_UNIT_TIME && cfg_row_unit(&rows[SIZE]) == CFG_UNIT_SIZE);
    CHECK(cfg_row_unit(&rows[RATE]) == CFG_UNIT_RATE &&
          cfg_row_unit(&rows[COUNT]) == CFG_UNIT_COUNT);
}
