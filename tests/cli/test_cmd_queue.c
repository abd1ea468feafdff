#include "deploy/cli/command.h"
#include "tests/lib/proc.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;

static bool is_counted(void *arg)
{
    bool counted;

    (void)arg;
    ERRAND(&site, &p, "queue", "--json");
    counted = p.status == 0 && strstr(p.out, "\"ready\":1,") != NULL &&
              strstr(p.out, "\"running\":2,") != NULL && strstr(p.out, "\"workers\":1,") != NULL &&
              strstr(p.out, "\"nap\":{\"high\":0,\"normal\":1,\"low\":0,\"idle\":0}") != NULL;
    prog_fini(&p);
    return counted;
}

TEST(what_waits_and_runs_is_counted)
{
    site_start(&site, "none");
    for (unsigned i = 0; i < 3; i++) {
        ERRAND(&site, &p, "call", "nap", "{\"s\":\"60\"}", "--detach");
        CHECK(p.status == 0);
        prog_fini(&p);
    }
    CHECK(wait_for(10000, is_counted, NULL));
    ERRAND(&site, &p, "queue");
    CHECK(p.status == 0 && strstr(p.out, "1 ready") != NULL && strstr(p.out, "2 running") != NULL);
    CHECK(strstr(p.out, "nap ") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(an_empty_redis_is_an_empty_queue_and_stays_empty)
{
    struct test_redis r;
    char redis[200];

    test_redis_start(&r, NULL);
    (void)snprintf(redis, sizeof(redis), "--redis=%s", r.url);
    prog_start(&p, (const char *const[]){"errand", "queue", "--json", redis, NULL}, NULL, NULL);
    CHECK(prog_end(&p, 10000) && p.status == 0 && strstr(p.out, "\"tasks\":0") != NULL);
    prog_fini(&p);
    prog_start(&p, (const char *const[]){"errand", "doctor", "--json", redis, NULL}, NULL, NULL);
    CHECK(prog_end(&p, 10000) && strstr(p.out, "\"found\":\"none\"") != NULL);
    prog_fini(&p);
    test_redis_stop(&r);
}
