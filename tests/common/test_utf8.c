#include "common/utf8.h"
#include "tests/lib/test.h"

static size_t encode(unsigned char out[4], unsigned v)
{
    if (v < 0x80) {
        out[0] = (unsigned char)v;
        return 1;
    }
    if (v < 0x800) {
        out[0] = (unsigned char)(0xc0U | v >> 6);
        out[1] = (unsigned char)(0x80U | (v & 0x3fU));
        return 2;
    }
    if (v < 0x10000) {
        out[0] = (unsigned char)(0xe0U | v >> 12);
        out[1] = (unsigned char)(0x80U | (v >> 6 & 0x3fU));
        out[2] = (unsigned char)(0x80U | (v & 0x3fU));
        return 3;
    }
    out[0] = (unsigned char)(0xf0U | v >> 18);
    out[1] = (unsigned char)(0x80U | (v >> 12 & 0x3fU));
    out[2] = (unsigned char)(0x80U | (v >> 6 & 0x3fU));
    out[3] = (unsigned char)(0x80U | (v & 0x3fU));
    return 4;
}

TEST(every_code_point_but_the_surrogates_is_read)
{
    size_t wrong = 0;

    for (unsigned v = 0; v < 0x1fffff; v++) {
        unsigned char c[4] = {0};
        size_t n = encode(c, v);
        bool good = v <= 0x10ffff && (v < 0xd800 || v > 0xdfff);

        wrong += utf8_len(c, n) != (good ? n : 0);
        for (size_t cut = 1; cut < n; cut++)
            wrong += utf8_len(c, cut) != 0;
    }
    CHECK(wrong == 0);
}

/* So many there are and no more: nothing is read in two ways. */
TEST(J6_the_sequences_of_each_length_are_counted)
{
    size_t counts[5] = {0};
    unsigned char c[3];

    for (unsigned a = 0; a < 256; a++) {
        for (unsigned bc = 0; bc < 65536; bc++) {
            c[0] = (unsigned char)a;
            c[1] = (unsigned char)(bc >> 8);
            c[2] = (unsigned char)bc;
            counts[utf8_len(c, 3)]++;
        }
    }
    CHECK(counts[1] == (size_t)128 * 65536);
    CHECK(counts[2] == (size_t)1920 * 256);
    CHECK(counts[3] == 61440);
    CHECK(counts[4] == 0);
}

TEST(a_tail_out_of_place_is_refused_at_every_place)
{
    unsigned char c[4] = {0xf1, 0x80, 0x80, 0x80};

    CHECK(utf8_len(c, 4) == 4);
    for (int i = 1; i < 4; i++) {
        for (int bad = 0; bad < 256; bad++) {
            c[i] = (unsigned char)bad;
            CHECK(utf8_len(c, 4) == (bad >= 0x80 && bad <= 0xbf ? 4 : 0));
        }
        c[i] = 0x80;
    }
}
