#include "common/cfg_unit.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum cfg_unit unit;
    const char *text;
    uint64_t value;
} good[] = {
    {CFG_UNIT_TIME, "0", 0},
    {CFG_UNIT_TIME, "0s", 0},
    {CFG_UNIT_TIME, "1ms", 1},
    {CFG_UNIT_TIME, "500ms", 500},
    {CFG_UNIT_TIME, "10s", 10000},
    {CFG_UNIT_TIME, "010s", 10000},
    {CFG_UNIT_TIME, "5m", 300000},
    {CFG_UNIT_TIME, "24h", 86400000},
    {CFG_UNIT_TIME, "7d", 604800000},
    {CFG_UNIT_TIME, "9007199254740991ms", CFG_NUMBER_MAX},
    {CFG_UNIT_TIME, "104249991d", UINT64_C(104249991) * 86400000},
    {CFG_UNIT_SIZE, "0", 0},
    {CFG_UNIT_SIZE, "512", 512},
    {CFG_UNIT_SIZE, "64k", 65536},
    {CFG_UNIT_SIZE, "16m", 16777216},
    {CFG_UNIT_SIZE, "1g", 1073741824},
    {CFG_UNIT_RATE, "0", 0},
    {CFG_UNIT_RATE, "0/s", 0},
    {CFG_UNIT_RATE, "5/s", 5000},
    {CFG_UNIT_RATE, "300/m", 5000},
    {CFG_UNIT_RATE, "18000/h", 5000},
    {CFG_UNIT_RATE, "10/h", 3},
    {CFG_UNIT_RATE, "1/h", 1}, /* no limit would be 0 */
    {CFG_UNIT_COUNT, "0", 0},
    {CFG_UNIT_COUNT, "64", 64},
    {CFG_UNIT_COUNT, "9007199254740991", CFG_NUMBER_MAX},
};

static const struct {
    enum cfg_unit unit;
    const char *text;
    const char *sentence;
} bad[] = {
    {CFG_UNIT_TIME, "",
     "\"\" is empty; write a whole number and a unit: 500ms, 10s, 5m, 24h or 7d"},
    {CFG_UNIT_TIME, "30", "\"30\" has no unit; write a whole number and a unit: 500ms, "},
    {CFG_UNIT_TIME, "30x", "\"30x\" is no duration; write "},
    {CFG_UNIT_TIME, "5 s", "\"5 s\" is no duration"},
    {CFG_UNIT_TIME, " 5s", "is no duration"},
    {CFG_UNIT_TIME, "5s ", "is no duration"},
    {CFG_UNIT_TIME, "-1s", "\"-1s\" is no duration"},
    {CFG_UNIT_TIME, "+1s", "is no duration"},
    {CFG_UNIT_TIME, "1.5s", "is no duration"},
    {CFG_UNIT_TIME, "1S", "is no duration"},
    {CFG_UNIT_TIME, "s", "is no duration"},
    {CFG_UNIT_TIME, "1m30s", "is no duration"},
    {CFG_UNIT_TIME, "0x10s", "is no duration"},
    {CFG_UNIT_TIME, "1k", "is no duration"},
    {CFG_UNIT_TIME, "9007199254740992ms", "is too large"},
    {CFG_UNIT_TIME, "104249992d", "is too large"},
    {CFG_UNIT_TIME, "18446744073709551616ms", "is too large"},
    {CFG_UNIT_TIME, "99999999999999999999999999999999999999d", "is too large"},
    {CFG_UNIT_SIZE, "", "is empty; write a whole number of bytes"},
    {CFG_UNIT_SIZE, "64kb", "\"64kb\" is no size; write a whole number of bytes, or with a unit: "},
    {CFG_UNIT_SIZE, "64K", "is no size"},
    {CFG_UNIT_SIZE, "-1", "is no size"},
    {CFG_UNIT_SIZE, "10s", "is no size"},
    {CFG_UNIT_SIZE, "9007199254740992", "is too large"},
    {CFG_UNIT_SIZE, "17179869184g", "is too large"},
    {CFG_UNIT_RATE, "5",
     "\"5\" has no unit; write a whole number and a period: 5/s, 300/m or 10/h"},
    {CFG_UNIT_RATE, "5/d", "\"5/d\" is no rate"},
    {CFG_UNIT_RATE, "5/ s", "is no rate"},
    {CFG_UNIT_RATE, "/s", "is no rate"},
    {CFG_UNIT_RATE, "9007199254740/s", NULL},
    {CFG_UNIT_RATE, "9007199254741/s", "is too large"},
    {CFG_UNIT_COUNT, "", "is empty; write digits only"},
    {CFG_UNIT_COUNT, "1k", "\"1k\" is no whole number; write digits only, like 64"},
    {CFG_UNIT_COUNT, "1.0", "is no whole number"},
    {CFG_UNIT_COUNT, "-1", "is no whole number"},
    {CFG_UNIT_COUNT, "ten", "is no whole number"},
    {CFG_UNIT_COUNT, "1\n", "\"1\\n\" is no whole number"},
};

TEST(numbers_are_read_in_their_units)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct buf why;
        uint64_t v = 77;

        buf_init(&why, 1000);
        CHECK(cfg_number(good[i].unit, good[i].text, &v, &why));
        CHECK(v == good[i].value && why.n == 0);
        if (v != good[i].value)
            printf("%s: %lu\n", good[i].text, (unsigned long)v);
        buf_fini(&why);
    }
}

TEST(every_mistake_in_a_number_has_its_sentence_and_sets_nothing)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf why;
        uint64_t v = 77;
        bool ok;

        buf_init(&why, 1000);
        ok = cfg_number(bad[i].unit, bad[i].text, &v, &why);
        CHECK(ok == (bad[i].sentence == NULL));
        if (bad[i].sentence != NULL) {
            REQUIRE(why.n != 0);
            CHECK(v == 77 && strstr(why.p, bad[i].sentence) != NULL);
            if (strstr(why.p, bad[i].sentence) == NULL)
                printf("%s: %s\n", bad[i].text, why.p);
        }
        buf_fini(&why);
    }
}

TEST(each_kind_has_a_reader_of_its_own)
{
    struct buf why;
    uint64_t v;

    buf_init(&why, 1000);
    CHECK(cfg_time("1s", &v, &why) && v == 1000);
    CHECK(cfg_size("1k", &v, &why) && v == 1024);
    CHECK(cfg_rate("1/s", &v, &why) && v == 1000);
    buf_fini(&why);
}

TEST(numbers_are_written_in_their_largest_whole_unit)
{
    static const struct {
        enum cfg_unit unit;
        uint64_t value;
        const char *text;
    } rows[] = {
        {CFG_UNIT_TIME, 0, "0"},
        {CFG_UNIT_TIME, 1500, "1500ms"},
        {CFG_UNIT_TIME, 10000, "10s"},
        {CFG_UNIT_TIME, 60000, "1m"},
        {CFG_UNIT_TIME, 90000, "90s"},
        {CFG_UNIT_TIME, 3600000, "1h"},
        {CFG_UNIT_TIME, 604800000, "7d"},
        {CFG_UNIT_SIZE, 512, "512"},
        {CFG_UNIT_SIZE, 65536, "64k"},
        {CFG_UNIT_SIZE, 1073741824, "1g"},
        {CFG_UNIT_RATE, 5000, "5/s"},
        {CFG_UNIT_RATE, 50, "3/m"},
        {CFG_UNIT_RATE, 3, "3 per 1000 s"},
        {CFG_UNIT_COUNT, 64, "64"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf out;

        buf_init(&out, 100);
        cfg_add_number(&out, rows[i].unit, rows[i].value);
        CHECK(strcmp(out.p, rows[i].text) == 0);
        buf_fini(&out);
    }
}

TEST(a_long_value_is_cut_between_characters_where_a_sentence_shows_it)
{
    char text[200] = "";
    struct buf out;

    for (size_t n = 0; n < 150; n += 3)
        memcpy(text + n, "\xe2\x82\xac", 4);
    buf_init(&out, 1000);
    cfg_add_quoted(&out, text);
    CHECK(out.n == 2 + 63 + 3);
    CHECK(strcmp(out.p + out.n - 7, "\xe2\x82\xac\"...") == 0);
    buf_fini(&out);
}
