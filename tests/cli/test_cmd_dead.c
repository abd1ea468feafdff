#include "deploy/cli/command.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;

TEST(a_dead_letter_is_listed_requeued_and_dropped)
{
    char entry[64];

    site_start(&site, "none");
    ERRAND(&site, &p, "dead");
    CHECK(p.status == 0 && strcmp(p.out, "no dead letters\n") == 0);
    prog_fini(&p);
    ERRAND(&site, &p, "call", "broken");
    CHECK(p.status == 1);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "list");
    REQUIRE(p.status == 0 && strstr(p.out, "broken") != NULL);
    (void)snprintf(entry, sizeof(entry), "%.*s", (int)strcspn(strchr(p.out, '\n') + 1, " "),
                   strchr(p.out, '\n') + 1);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "--json");
    CHECK(p.status == 0 && strstr(p.out, "\"canBeRequeued\":true") != NULL);
    CHECK(strstr(p.out, "\"attempts\":2") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "requeue", entry);
    CHECK(p.status == 0 && strstr(p.out, "is task ") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "requeue", entry);
    CHECK(p.status == 1 && strstr(p.err, "no such entry") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(all_letters_are_dropped_at_once)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "call", "broken");
    prog_fini(&p);
    ERRAND(&site, &p, "call", "broken");
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "drop", "all");
    CHECK(p.status == 0 && strstr(p.out, "is dropped") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "--json");
    CHECK(p.status == 0 && strcmp(p.out, "[]\n") == 0);
    prog_fini(&p);
    ERRAND(&site, &p, "dead", "drop", "0-1-1");
    CHECK(p.status == 1);
    prog_fini(&p);
    site_stop(&site);
}
