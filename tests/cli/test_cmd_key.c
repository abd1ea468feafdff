#include "deploy/cli/command.h"
#include "tests/lib/proc.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;
static char key[64];

static int tools_with_key(void)
{
    struct prog q;
    int status;

    site_errand_start(&site, &q, (const char *const[]){"errand", "tools", NULL}, key, NULL);
    (void)prog_end(&q, 20000);
    status = q.status;
    prog_fini(&q);
    return status;
}

static bool is_refused(void *arg)
{
    (void)arg;
    return tools_with_key() == 1;
}

TEST(a_key_is_printed_once_works_and_is_revoked_within_a_second)
{
    const char *last;

    site_start(&site, "key");
    ERRAND(&site, &p, "key", "new", "--name", "ci", "--expires", "90d");
    REQUIRE(p.status == 0);
    last = strstr(p.out, "\nerk_");
    REQUIRE(last != NULL && strlen(last + 1) == 48 && last[48] == '\n');
    (void)snprintf(key, sizeof(key), "%.47s", last + 1);
    prog_fini(&p);
    CHECK(tools_with_key() == 0);
    ERRAND(&site, &p, "key", "list");
    CHECK(p.status == 0 && strstr(p.out, "ci") != NULL && strstr(p.out, "erk_") == NULL);
    CHECK(strstr(p.out, "tools:call tasks:read") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "key", "new", "--name", "ci");
    CHECK(p.status == 1 && strstr(p.err, "already; add --rotate") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "key", "new", "--name", "ci", "--rotate", "--json");
    CHECK(p.status == 0 && strstr(p.out, "\"scopes\":\"tools:call tasks:read\"") != NULL);
    CHECK(strstr(p.out, "\"olderUntil\":\"20") != NULL);
    prog_fini(&p);
    CHECK(tools_with_key() == 0);
    ERRAND(&site, &p, "key", "new", "--name", "nobody", "--rotate");
    CHECK(p.status == 1 && strstr(p.err, "leave out --rotate") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "key", "revoke", "--name", "ci");
    CHECK(p.status == 0);
    prog_fini(&p);
    CHECK(wait_for(10000, is_refused, NULL));
    ERRAND(&site, &p, "key", "revoke", "--name", "ci");
    CHECK(p.status == 1 && strstr(p.err, "no key") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "key", "list", "--json");
    CHECK(p.status == 0 && strcmp(p.out, "[]\n") == 0);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_key_says_what_it_may)
{
    site_start(&site, "key");
    ERRAND(&site, &p, "key", "new", "--name", "root", "--admin", "--scopes",
           "tasks:read,tools:call", "--json");
    CHECK(p.status == 0 && strstr(p.out, "\"scopes\":\"tasks:read tools:call\"") != NULL);
    CHECK(strstr(p.out, "\"admin\":true") != NULL && strstr(p.out, "\"key\":\"erk_") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "key", "new", "--name", "anonymous");
    CHECK(p.status == 2 && strstr(p.err, "callers without a key") != NULL && p.out[0] == '\0');
    prog_fini(&p);
    ERRAND(&site, &p, "key", "list", "--json");
    CHECK(strstr(p.out, "anonymous") == NULL);
    CHECK(strstr(p.out, "\"admin\":true") != NULL && strstr(p.out, "\"expires\":null") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_key_can_be_made_before_the_first_broker)
{
    struct test_redis r;
    char redis[200];

    test_redis_start(&r, NULL);
    (void)snprintf(redis, sizeof(redis), "--redis=%s", r.url);
    prog_start(&p, (const char *const[]){"errand", "key", "new", "--name=a", redis, NULL}, NULL,
               NULL);
    CHECK(prog_end(&p, 10000) && p.status == 0);
    prog_fini(&p);
    test_redis_stop(&r);
}
