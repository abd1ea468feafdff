#include "common/id.h"
#include "common/map.h"
#include "common/mem.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

static const unsigned char secret[32] = "an installation's only secret...";
static const unsigned char other[32] = "the secret of another, or older.";
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

TEST(an_id_says_its_partition_and_is_of_one_form)
{
    for (unsigned p = 0; p < ID_PARTITIONS_MAX; p++) {
        char id[ID_LEN + 1];
        unsigned found = 999;

        id_new(id, p);
        CHECK(strlen(id) == ID_LEN);
        CHECK(strspn(id, alphabet) == ID_LEN);
        CHECK(id_parse(span_of(id), ID_PARTITIONS_MAX, &found));
        CHECK(found == p);
        found = 999;
        CHECK(id_parse(span_of(id), p + 1, &found) && found == p);
        found = 999;
        CHECK(!id_parse(span_of(id), p, &found)); /* this installation has fewer */
        CHECK(found == 999);
    }
}

TEST(ids_do_not_repeat)
{
    enum { COUNT = 20000 };
    struct map_node *nodes = mem_zalloc(COUNT * sizeof(*nodes));
    char *ids = mem_alloc((size_t)COUNT * (ID_LEN + 1));
    struct map seen;
    size_t repeats = 0;

    map_init(&seen);
    for (size_t i = 0; i < COUNT; i++) {
        char *id = ids + i * (ID_LEN + 1);

        id_new(id, 7);
        repeats += map_find(&seen, span_of(id)) != NULL;
        map_add(&seen, &nodes[i], span_of(id));
    }
    CHECK(repeats == 0);
    map_fini(&seen);
    free(nodes);
    free(ids);
}

TEST(what_is_no_id_in_form_is_refused)
{
    char id[ID_LEN + 2] = "07AAAAAAAAAAAAAAAAAAAAAA";
    unsigned p = 999;

    CHECK(id_parse(span_of(id), 8, &p) && p == 7);
    p = 999;
    CHECK(!id_parse((struct span){id, ID_LEN - 1}, 8, &p));
    CHECK(!id_parse((struct span){id, ID_LEN + 1}, 8, &p));
    CHECK(!id_parse((struct span){NULL, 0}, 8, &p));
    CHECK(!id_parse(SPAN(""), 8, &p));
    CHECK(!id_parse(span_of(id), 0, &p));
    for (size_t i = 0; i < ID_LEN; i++) {
        char was = id[i];

        for (int c = 0; c < 256; c++) {
            bool good = i < 2 ? c >= '0' && c <= '9' : c != 0 && strchr(alphabet, c) != NULL;

            id[i] = (char)c;
            CHECK(id_parse(span_of(id), 100, &p) == good);
        }
        id[i] = was;
    }
}

/* Ids are compared as text: there is no second spelling to find a task by. */
TEST(S3_an_id_in_other_letters_is_another_id)
{
    char id[ID_LEN + 1];
    char upper[ID_LEN + 1];

    do {
        id_new(id, 0);
        for (size_t i = 0; i <= ID_LEN; i++)
            upper[i] = (char)(id[i] >= 'a' && id[i] <= 'z' ? id[i] - 'a' + 'A' : id[i]);
    } while (strcmp(id, upper) == 0);
    CHECK(!span_equal(span_of(id), span_of(upper)));
}

TEST(a_process_name_is_eight_characters_and_new_each_time)
{
    char a[ID_SHORT_LEN + 1];
    char b[ID_SHORT_LEN + 1];

    id_short(a);
    id_short(b);
    CHECK(strlen(a) == ID_SHORT_LEN && strspn(a, alphabet) == ID_SHORT_LEN);
    CHECK(strcmp(a, b) != 0);
}

TEST(an_owner_key_hides_the_principal_and_depends_on_the_secret)
{
    char a[ID_OWNER_LEN + 1];
    char b[ID_OWNER_LEN + 1];

    id_owner(a, secret, SPAN("ann"));
    CHECK(strlen(a) == ID_OWNER_LEN && strspn(a, alphabet) == ID_OWNER_LEN);
    id_owner(b, secret, SPAN("ann"));
    CHECK(strcmp(a, b) == 0);
    id_owner(b, secret, SPAN("bob"));
    CHECK(strcmp(a, b) != 0);
    id_owner(b, other, SPAN("ann"));
    CHECK(strcmp(a, b) != 0);
    id_owner(b, secret, SPAN("")); /* nobody in particular is an owner too */
    CHECK(strlen(b) == ID_OWNER_LEN && strcmp(a, b) != 0);
}

/* These stand in every installation's Redis: a change here loses its tasks. */
TEST(owner_keys_and_partitions_are_the_same_in_every_release)
{
    char owner[ID_OWNER_LEN + 1];

    id_owner(owner, secret, SPAN("ann"));
    CHECK(strcmp(owner, "FzMS4npi_CDrtn4G") == 0);
    CHECK(id_owner_partition(SPAN("AAAAAAAAAAAAAAAA"), 64) == 13);
    CHECK(id_owner_partition(SPAN("AAAAAAAAAAAAAAAA"), 16) == 13);
}

TEST(owners_spread_over_the_partitions)
{
    unsigned counts[16] = {0};

    for (unsigned i = 0; i < 1600; i++) {
        char name[16];
        char owner[ID_OWNER_LEN + 1];
        unsigned p;

        (void)snprintf(name, sizeof(name), "user%u", i);
        id_owner(owner, secret, span_of(name));
        p = id_owner_partition(span_of(owner), 16);
        REQUIRE(p < 16);
        counts[p]++;
        CHECK(id_owner_partition(span_of(owner), 1) == 0);
    }
    for (unsigned p = 0; p < 16; p++)
        CHECK(counts[p] > 50 && counts[p] < 150);
}

TEST(a_digest_tells_where_one_part_ends_and_the_next_begins)
{
    char a[23];
    char b[23];

    id_digest(a, (const struct span[]){SPAN("ab"), SPAN("c")}, 2);
    CHECK(strlen(a) == 22 && strspn(a, alphabet) == 22);
    id_digest(b, (const struct span[]){SPAN("ab"), SPAN("c")}, 2);
    CHECK(strcmp(a, b) == 0);
    id_digest(b, (const struct span[]){SPAN("a"), SPAN("bc")}, 2);
    CHECK(strcmp(a, b) != 0);
    id_digest(b, (const struct span[]){SPAN("abc")}, 1);
    CHECK(strcmp(a, b) != 0);
    id_digest(b, (const struct span[]){SPAN("ab"), SPAN("c"), {NULL, 0}}, 3);
    CHECK(strcmp(a, b) != 0);
}
