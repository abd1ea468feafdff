#include "deploy/cli/command.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <string.h>

static struct site site;
static struct prog p;

TEST(tools_are_listed_with_what_they_are)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "tools");
    CHECK(p.status == 0);
    CHECK(strstr(p.out, "nap     optional  sleeps for a while\n") != NULL);
    CHECK(strstr(p.out, "must    required  fails\n") != NULL);
    CHECK(strstr(p.out, "quick   -         answers\n") != NULL);
    CHECK(strstr(p.out, "cannot start, and says so at such a length") != NULL);
    CHECK(strstr(p.out, "which has many ro...\n") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "tools", "--json");
    CHECK(p.status == 0 && p.out[0] == '[' && strstr(p.out, "\"inputSchema\"") != NULL);
    prog_fini(&p);
    site_stop(&site);
}
