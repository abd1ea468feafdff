#include "broker/conf.h"

#include "broker/method.h"
#include "common/cfg_check.h"
#include "common/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct cfg_row rows[] = {
#define X(...) CFG_ROW(struct conf, __VA_ARGS__)
#include "broker/conf.def"
#undef X
};

static const struct cfg_page pages[] = {{"methods", method_docs}, {NULL, NULL}};

const struct cfg conf_table = {
    .program = "errand-broker",
    .summary = "serves MCP over HTTP; tasks are kept in Redis and run by errand-worker",
    .rows = rows,
    .pages = pages,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static bool blame(const struct conf *c, const char *name, const char *sentence, struct buf *why)
{
    if (sentence != NULL)
        buf_adds(why, sentence);
    return cfg_blame(&conf_table, c, name, why);
}

/* Options whose feature is not there yet are refused rather than ignored. */
static bool check_there(const struct conf *c, struct buf *why)
{
    static const char *const jwt[] = {"jwt-issuer", "jwt-audience", "jwt-jwks"};

    if (c->auth != NULL && strcmp(c->auth, "jwt") == 0)
        return blame(c, "auth", "jwt is not there yet; write key or none", why);
    for (size_t i = 0; i < sizeof(jwt) / sizeof(jwt[0]); i++)
        if (cfg_given(&conf_table, c, jwt[i]))
            return blame(c, jwt[i], "--auth jwt is not there yet; leave it out", why);
    return true;
}

static bool check_redis(struct conf *c, struct buf *why)
{
    struct buf shown;

    if (!cfg_check_redis(&conf_table, c, c->redis, c->redis_password_file, &c->url, why))
        return false;
    buf_init(&shown, 1024);
    url_describe(&shown, &c->url);
    c->redis_shown = buf_take(&shown);
    if (!cfg_check_prefix(c->prefix, why))
        return blame(c, "prefix", NULL, why);
    c->has_secret = c->secret_file != NULL;
    if (c->has_secret && !cfg_read_secret(c->secret_file, c->secret, why))
        return blame(c, "secret-file", NULL, why);
    return true;
}

static bool check_http(struct conf *c, struct buf *why)
{
    if (!cfg_check_listen(c->listen, &c->host, &c->port, why))
        return blame(c, "listen", NULL, why);
    if (c->auth == NULL && c->probe == NULL && !cfg_is_loopback(c->host)) {
        cfg_add_quoted(why, c->listen);
        return blame(c, "listen",
                     " can be reached from other machines; add --auth key, or --auth none to let "
                     "anyone in",
                     why);
    }
    if (c->auth == NULL)
        c->auth = mem_strdup("none");
    if (c->probe != NULL && c->port == 0) {
        cfg_add_quoted(why, c->listen);
        return blame(c, "listen", " does not say which port to probe; write it", why);
    }
    if (c->public_url != NULL && !cfg_check_base_url(c->public_url, why))
        return blame(c, "public-url", NULL, why);
    return true;
}

static bool check_otlp(const struct conf *c, struct buf *why)
{
    return c->otlp == NULL || cfg_check_base_url(c->otlp, why) || blame(c, "otlp", NULL, why);
}

static bool check_ttl(const struct conf *c, struct buf *why)
{
    if (c->default_ttl <= c->max_ttl)
        return true;
    cfg_add_number(why, CFG_UNIT_TIME, c->default_ttl);
    buf_adds(why, " is longer than --max-ttl, which is ");
    cfg_add_number(why, CFG_UNIT_TIME, c->max_ttl);
    return blame(c, "default-ttl", NULL, why);
}

static bool check_durability(struct conf *c, struct buf *why)
{
    const char *d = c->durability;

    if (strcmp(d, "none") == 0)
        return true;
    if (strncmp(d, "wait:", 5) == 0 && d[5] >= '1' && d[5] <= '9' && d[6] == '\0') {
        c->replicas = (unsigned)(d[5] - '0');
        return true;
    }
    cfg_add_quoted(why, d);
    return blame(c, "durability", " is neither none nor wait:N with N from 1 to 9", why);
}

bool conf_check(struct conf *c, struct buf *why)
{
    return check_there(c, why) && check_redis(c, why) && check_http(c, why) && check_ttl(c, why) &&
           check_durability(c, why) && check_otlp(c, why);
}

enum cfg_outcome conf_read(struct conf *c, int argc, char **argv, struct buf *why)
{
    enum cfg_outcome outcome = cfg_read(&conf_table, c, argc, argv, NULL, why);

    return outcome == CFG_READY && !conf_check(c, why) ? CFG_BAD : outcome;
}

void conf_fini(struct conf *c)
{
    url_fini(&c->url);
    free(c->redis_shown);
    free(c->host);
    explicit_bzero(c->secret, sizeof(c->secret));
    cfg_fini(&conf_table, c);
}
