#include "worker/conf.h"

#include "common/cfg_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cfg_row rows[] = {
#define X(...) CFG_ROW(struct conf, __VA_ARGS__)
#include "worker/conf.def"
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct cfg conf_table = {
    .program = "errand-worker",
    .summary = "runs the tasks that errand-broker keeps in Redis: commands, HTTP jobs, MCP servers",
    .rows = rows,
    .count = ROWS,
};

struct cfg conf_table_without_tools(const char *program, const char *summary)
{
    assert(strcmp(rows[0].name, "tools") == 0);
    return (struct cfg){
        .program = program, .summary = summary, .rows = rows + 1, .count = ROWS - 1};
}

static bool check_redis(const struct cfg *table, struct conf *c, struct buf *why)
{
    struct buf shown;

    if (!cfg_check_redis(table, c, c->redis, c->redis_password_file, &c->url, why))
        return false;
    buf_init(&shown, 1024);
    url_describe(&shown, &c->url);
    c->redis_shown = buf_take(&shown);
    if (!cfg_check_prefix(c->prefix, why))
        return cfg_blame(table, c, "prefix", why);
    c->has_secret = c->secret_file != NULL;
    if (c->has_secret && !cfg_read_secret(c->secret_file, c->secret, why))
        return cfg_blame(table, c, "secret-file", why);
    return true;
}

/* A probe needs no tools, but a port to ask at. */
static bool check_probe(const struct cfg *table, const struct conf *c, struct buf *why)
{
    if (c->metrics_port != 0)
        return true;
    buf_adds(why, "there is nobody to ask without --metrics HOST:PORT");
    return cfg_blame(table, c, "probe", why);
}

bool conf_check(const struct cfg *table, struct conf *c, struct buf *why)
{
    if (!check_redis(table, c, why))
        return false;
    if (table == &conf_table && c->tools.n == 0 && c->probe == NULL) {
        buf_adds(why, "it is missing; write --tools FILE, a file that declares the tools to serve");
        return cfg_blame(table, c, "tools", why);
    }
    if (c->public_url != NULL && !cfg_check_base_url(c->public_url, why))
        return cfg_blame(table, c, "public-url", why);
    if (c->otlp != NULL && !cfg_check_base_url(c->otlp, why))
        return cfg_blame(table, c, "otlp", why);
    if (c->metrics != NULL &&
        !cfg_check_listen(c->metrics, &c->metrics_host, &c->metrics_port, why))
        return cfg_blame(table, c, "metrics", why);
    if (c->probe != NULL && !check_probe(table, c, why))
        return false;
    if (c->slots == 0) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);

        c->slots = cpus > 0 ? (uint64_t)cpus : 1;
    }
    return true;
}

enum cfg_outcome conf_read(const struct cfg *table, struct conf *c, int argc, char **argv,
                           struct buf *why)
{
    enum cfg_outcome outcome = cfg_read(table, c, argc, argv, NULL, why);

    return outcome == CFG_READY && !conf_check(table, c, why) ? CFG_BAD : outcome;
}

void conf_fini(const struct cfg *table, struct conf *c)
{
    url_fini(&c->url);
    free(c->redis_shown);
    free(c->metrics_host);
    explicit_bzero(c->secret, sizeof(c->secret));
    cfg_fini(table, c);
}
