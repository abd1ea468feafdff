#include "deploy/cli/command.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;
static char key[64];

static void run(const char *const *words)
{
    site_errand_start(&site, &p, words, key, NULL);
    (void)prog_end(&p, 30000);
}

#define RUN(...) run((const char *const[]){"errand", __VA_ARGS__, NULL})

/* The last line of what was printed. */
static bool take_key(void)
{
    const char *at;

    ERRAND(&site, &p, "key", "new", "--name", "me");
    at = strstr(p.out, "erk_");
    key[0] = '\0';
    if (p.status == 0 && at != NULL)
        (void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, "\n"), at);
    prog_fini(&p);
    return key[0] != '\0';
}

TEST(tasks_are_listed_shown_and_cancelled)
{
    char id[25];

    site_start(&site, "key");
    REQUIRE(take_key());
    RUN("tasks", "--json");
    CHECK(p.status == 0 && strcmp(p.out, "[]\n") == 0);
    prog_fini(&p);
    RUN("call", "nap", "{\"s\":\"60\"}", "--detach");
    REQUIRE(p.status == 0 && strlen(p.out) == 25);
    (void)snprintf(id, sizeof(id), "%.24s", p.out);
    prog_fini(&p);
    RUN("tasks");
    CHECK(p.status == 0 && strstr(p.out, id) != NULL && strstr(p.out, "working") != NULL);
    prog_fini(&p);
    RUN("cancel", id);
    CHECK(p.status == 0 && strstr(p.out, "cancelled") != NULL);
    prog_fini(&p);
    RUN("cancel", id);
    CHECK(p.status == 1 && p.err[0] != '\0');
    prog_fini(&p);
    RUN("result", id);
    CHECK(p.status == 1 && strstr(p.err, "cancelled") != NULL);
    prog_fini(&p);
    RUN("tasks", "--json", "--limit", "1");
    CHECK(p.status == 0 && strstr(p.out, "\"status\":\"cancelled\"") != NULL);
    prog_fini(&p);
    RUN("get", "nosuchtask");
    CHECK(p.status == 1 && strstr(p.err, "not found") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(without_a_key_one_is_asked_for)
{
    site_start(&site, "key");
    ERRAND(&site, &p, "tasks");
    CHECK(p.status == 1 && strstr(p.err, "ERRAND_KEY") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_broker_that_lists_no_tasks_is_explained)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "tasks");
    CHECK(p.status == 1 && strstr(p.err, "lists no tasks") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_broker_without_redis_is_asked_again_and_it_says_so)
{
    site_start(&site, "none");
    test_redis_kill(&site.redis);
    site_errand_start(&site, &p, (const char *const[]){"errand", "tools", NULL}, NULL, NULL);
    CHECK(prog_says(&p, "trying again for two minutes"));
    test_redis_restart(&site.redis);
    CHECK(prog_end(&p, 30000) && p.status == EXIT_OK);
    prog_fini(&p);
    site_stop(&site);
}
