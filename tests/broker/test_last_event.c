#include "broker/l/last_event.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static char stream[STREAM_ID_LEN + 1];
static char entry[64];

/* Of a stream that is there, followed by that. */
static bool parse(const char *tail)
{
    struct span s = {"", 0};
    char text[STREAM_ID_LEN + 64];
    bool ok;

    (void)snprintf(text, sizeof(text), "%.*s%s", STREAM_ID_LEN, "aaaaaaaaaaaaaaaa", tail);
    ok = last_event_parse(text, stream, &s);

    (void)snprintf(entry, sizeof(entry), "%.*s", (int)s.n, s.p);
    return ok;
}

TEST(an_event_id_names_its_stream_and_its_place_there)
{
    CHECK(parse(".1700000000000-3"));
    CHECK(strlen(stream) == STREAM_ID_LEN && strcmp(entry, "1700000000000-3") == 0);
    CHECK(parse(".end") && strcmp(entry, "end") == 0);
}

TEST(an_event_id_that_is_none_of_ours_is_refused)
{
    struct span s;

    CHECK(!last_event_parse("", stream, &s) && !last_event_parse("17", stream, &s));
    CHECK(!parse("") && !parse(".") && !parse(":17-1") && !parse(".17-1 ") && !parse(".ended"));
}
