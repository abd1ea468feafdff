#include "deploy/cli/command.h"
#include "tests/lib/prog.h"
#include "tests/lib/redis.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

static struct site site;
static struct prog p;

TEST(a_sound_installation_is_status_0_once_it_is_durable)
{
    site_start(&site, "none");
    ERRAND(&site, &p, "doctor");
    CHECK(p.status == 1 && strstr(p.out, "CHANGE  persistence") != NULL);
    prog_fini(&p);
    freeReplyObject(redisCommand(site.redis.c, "CONFIG SET appendonly yes"));
    ERRAND(&site, &p, "doctor");
    CHECK(p.status == 0 && strstr(p.out, "CHANGE") == NULL);
    CHECK(strstr(p.out, "1 alive") != NULL && strstr(p.out, "1 partition") != NULL);
    prog_fini(&p);
    freeReplyObject(redisCommand(site.redis.c, "CONFIG SET maxmemory-policy allkeys-lru"));
    ERRAND(&site, &p, "doctor", "--json");
    CHECK(p.status == 1 && strstr(p.out, "{\"check\":\"eviction\",\"verdict\":\"change\"") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

TEST(a_redis_that_does_not_let_us_look_is_looked_at_as_far_as_it_goes)
{
    struct test_redis r;
    char redis[256];

    test_redis_start(&r, NULL);
    freeReplyObject(
        redisCommand(r.c, "ACL SETUSER app on >pw ~* &* +@all -config -info -function|list"));
    (void)snprintf(redis, sizeof(redis), "--redis=unix://app:pw@%s", r.socket);
    prog_start(&p, (const char *const[]){"errand", "doctor", redis, NULL}, NULL, NULL);
    CHECK(prog_end(&p, 10000) && p.status == 1);
    CHECK(strstr(p.out, "cannot be read") != NULL && strstr(p.out, "CHANGE  workers") != NULL);
    CHECK(strstr(p.out, "CHANGE  default user") == NULL);
    prog_fini(&p);
    freeReplyObject(redisCommand(r.c, "ACL SETUSER default -@all +ping"));
    prog_start(&p, (const char *const[]){"errand", "doctor", redis, NULL}, NULL, NULL);
    CHECK(prog_end(&p, 10000) && strstr(p.out, "CHANGE  default user") != NULL);
    prog_fini(&p);
    test_redis_stop(&r);
}
