#include "deploy/cli/conf.h"

#include "common/cfg_check.h"
#include "deploy/cli/command.h"

#include <string.h>

static const struct cfg_row rows[] = {
#define X(...) CFG_ROW(struct conf, __VA_ARGS__)
#include "deploy/cli/conf.def"
#undef X
};

static const struct cfg_page pages[] = {{"commands", command_docs}, {NULL, NULL}};

const struct cfg conf_table = {
    .program = "errand",
    .summary = "calls tools as tasks on a broker, and looks after what is in Redis",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .rest = "COMMAND [ARGUMENT...]",
    .pages = pages,
    .hint = "errand help lists the commands, errand help COMMAND explains one.",
};

static bool is_flag(const struct conf *c, const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0)
            return c->base.from[i] == CFG_FROM_FLAG;
    return false;
}

static bool check(struct conf *c, struct buf *why)
{
    if (strncmp(c->url, "http://", 7) != 0 && strncmp(c->url, "https://", 8) != 0) {
        cfg_add_quoted(why, c->url);
        buf_adds(why, " is no address of a broker; write http://HOST:PORT/mcp");
        return cfg_blame(&conf_table, c, "url", why);
    }
    if (!cfg_check_redis(&conf_table, c, c->redis, c->redis_password_file, &c->redis_url, why))
        return false;
    if (!cfg_check_prefix(c->prefix, why))
        return cfg_blame(&conf_table, c, "prefix", why);
    c->has_secret = c->secret_file != NULL;
    if (c->has_secret && !cfg_read_secret(c->secret_file, c->secret, why))
        return cfg_blame(&conf_table, c, "secret-file", why);
    c->has_url = is_flag(c, "url");
    c->has_ttl = cfg_given(&conf_table, c, "ttl");
    return true;
}

enum cfg_outcome conf_read(struct conf *c, int argc, char **argv, struct cfg_rest *rest,
                           struct buf *why)
{
    enum cfg_outcome outcome = cfg_read(&conf_table, c, argc, argv, rest, why);

    return outcome == CFG_READY && !check(c, why) ? CFG_BAD : outcome;
}

void conf_fini(struct conf *c)
{
    url_fini(&c->redis_url);
    explicit_bzero(c->secret, sizeof(c->secret));
    cfg_fini(&conf_table, c);
}
