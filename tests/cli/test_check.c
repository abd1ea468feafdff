#include "deploy/cli/check.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static const char info[] = "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\n"
                           "role:master\r\nused_memory:104857600\r\naof_last_write_status:ok\r\n"
                           "cluster_enabled:0\r\n";

/* A server as it should be. */
static struct check_facts good(void)
{
    return (struct check_facts){
        .info = SPAN(info),
        .appendonly = SPAN("yes"),
        .appendfsync = SPAN("everysec"),
        .maxmemory = SPAN("1073741824"),
        .policy = SPAN("noeviction"),
        .listpack = SPAN("4096"),
        .limits = SPAN("normal 0 0 0 slave 268435456 67108864 60 pubsub 67108864 16777216 60"),
        .timeout = SPAN("0"),
        .may_replay = SPAN("OK"),
        .redis_ms = 1000000,
        .our_ms = 1000100,
        .partitions = 4,
        .is_made = true,
        .has_library = true,
        .workers = 2,
    };
}

static struct {
    unsigned count[3];
    const char *what; /* one to look at */
    enum check_level level;
    char found[256];
    char advice[256];
} g;

static void on_finding(void *arg, enum check_level level, const char *what, const char *found,
                       const char *advice)
{
    (void)arg;
    g.count[level]++;
    if (g.what == NULL || strcmp(g.what, what) != 0)
        return;
    g.level = level;
    (void)snprintf(g.found, sizeof(g.found), "%s", found);
    (void)snprintf(g.advice, sizeof(g.advice), "%s", advice);
}

static enum check_level look(const struct check_facts *f, const char *what)
{
    memset(&g, 0, sizeof(g));
    g.what = what;
    check_everything(f, on_finding, NULL);
    return g.level;
}

TEST(a_server_as_it_should_be_needs_nothing)
{
    struct check_facts f = good();

    (void)look(&f, "server");
    CHECK(g.count[CHECK_BAD] == 0 && g.count[CHECK_NOTE] == 0 && g.count[CHECK_OK] == 13);
    CHECK(strcmp(g.found, "Valkey 8.0.1") == 0 && g.advice[0] == '\0');
}

TEST(what_must_be_changed_is_told_with_what_to_do)
{
    struct check_facts f = good();

    f.appendonly = SPAN("no");
    CHECK(look(&f, "persistence") == CHECK_BAD && strstr(g.advice, "appendonly yes") != NULL);
    CHECK(g.count[CHECK_BAD] == 1);
    f = good();
    f.appendfsync = SPAN("no");
    CHECK(look(&f, "persistence") == CHECK_BAD && strstr(g.advice, "everysec") != NULL);
    f = good();
    f.may_replay = SPAN("User default has no permissions to run the 'set' command");
    CHECK(look(&f, "default user") == CHECK_BAD && strstr(g.advice, "ACL SETUSER") != NULL);
    f = good();
    f.policy = SPAN("allkeys-lru");
    CHECK(look(&f, "eviction") == CHECK_BAD && strstr(g.advice, "noeviction") != NULL);
    f = good();
    f.limits = SPAN("normal 0 0 0 slave 1 1 60 pubsub 1048576 524288 60");
    CHECK(look(&f, "pubsub output limit") == CHECK_BAD);
    f = good();
    f.our_ms += 60000;
    CHECK(look(&f, "clocks") == CHECK_BAD);
    f = good();
    f.workers = 0;
    CHECK(look(&f, "workers") == CHECK_BAD && strstr(g.advice, "errand-worker") != NULL);
    f = good();
    f.maxmemory = SPAN("110000000");
    CHECK(look(&f, "memory") == CHECK_BAD);
    f = good();
    f.info = SPAN("redis_version:6.2.1\r\nrole:slave\r\n");
    CHECK(look(&f, "server") == CHECK_BAD);
    CHECK(look(&f, "role") == CHECK_BAD);
    f.info = SPAN("redis_version:7.2.1\r\nrole:master\r\ncluster_enabled:1\r\n");
    CHECK(look(&f, "role") == CHECK_BAD && strstr(g.advice, "cluster") != NULL);
    f = good();
    f.info = SPAN("redis_version:7.2.1\r\nrole:master\r\naof_last_write_status:err\r\n");
    CHECK(look(&f, "persistence") == CHECK_BAD);
}

TEST(what_could_be_better_is_a_note)
{
    struct check_facts f = good();

    f.listpack = SPAN("64");
    CHECK(look(&f, "hash-max-listpack-value") == CHECK_NOTE);
    f = good();
    f.maxmemory = SPAN("0");
    CHECK(look(&f, "memory") == CHECK_NOTE);
    f = good();
    f.redis_ms += 2000;
    CHECK(look(&f, "clocks") == CHECK_NOTE);
    f = good();
    f.timeout = SPAN("300");
    CHECK(look(&f, "timeout") == CHECK_NOTE);
    f = good();
    f.is_made = false;
    CHECK(look(&f, "installation") == CHECK_NOTE);
    f = good();
    f.has_library = false;
    CHECK(look(&f, "function library") == CHECK_NOTE);
    f = good();
    f.limits = SPAN("normal 0 0 0 slave 1 1 60 pubsub 0 0 0");
    CHECK(look(&f, "pubsub output limit") == CHECK_OK);
}

TEST(a_server_that_shows_nothing_is_no_failure)
{
    struct check_facts f = {.workers = 1, .is_made = true, .partitions = 1, .has_library = true};

    (void)look(&f, "server");
    CHECK(g.count[CHECK_BAD] == 0 && g.count[CHECK_NOTE] == 9);
}

TEST(a_line_of_INFO_is_found_by_its_whole_name)
{
    CHECK(span_is(check_info(SPAN("a:1\r\nbb:2\r\nb:3"), "b"), "3"));
    CHECK(span_is(check_info(SPAN("a:1\r\nbb:2\r\nb:3"), "bb"), "2"));
    CHECK(check_info(SPAN("a:1\r\n"), "c").p == NULL);
    CHECK(check_info((struct span){NULL, 0}, "c").p == NULL);
}
