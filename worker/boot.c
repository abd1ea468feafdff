#include "worker/boot.h"

#include "common/event.h"
#include "common/probe.h"
#include "common/seal.h"
#include "worker/conf.h"
#include "worker/health.h"
#include "worker/worker.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY_MAX = 8192 };

static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path != NULL ? path : "worker";
}

/* Descriptors 0 to 2 exist: what is opened later is never taken for one of them. */
static void hold_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        (void)close(fd);
}

static int complain(const char *program, const struct buf *why)
{
    (void)fprintf(stderr, "%s: %s\n", program, buf_span(why).p);
    return CFG_EXIT_USAGE;
}

static bool can_call_back(const struct tools *all, const struct conf *c, struct buf *why)
{
    for (size_t i = 0; i < all->n; i++) {
        if (c->public_url != NULL || !tool_takes_callback(all->v[i]))
            continue;
        buf_addf(why,
                 "--public-url: it is missing, and tool \"%s\" hands out {callbackUrl}; write how "
                 "the outside reaches a broker, like --public-url https://errand.example",
                 all->v[i]->name);
        return false;
    }
    return true;
}

static bool read_files(void *arg, struct tools *all, struct buf *why)
{
    const struct conf *c = arg;

    return tools_add_files(all, (const char *const *)c->tools.items, c->tools.n, why) &&
           can_call_back(all, c, why);
}

static bool gather_tools(struct tools *all, struct conf *c, const struct errand_tool *tools,
                         size_t count, struct buf *why)
{
    assert(tools != NULL || count == 0);
    if (tools == NULL)
        return read_files(c, all, why);
    for (size_t i = 0; i < count; i++)
        if (!tools_add_text(all, tools[i].declaration, &tools[i], why))
            return false;
    if (all->n == 0)
        buf_adds(why, "there is no tool to serve; hand one to errand_worker_main()");
    return all->n > 0;
}

static int serve(struct conf *c, const struct cfg *table, struct tools *tools, struct buf *why)
{
    struct worker_conf conf = {.url = &c->url,
                               .redis_shown = c->redis_shown,
                               .prefix = c->prefix,
                               .partitions = (unsigned)c->partitions,
                               .secret = c->has_secret ? c->secret : NULL,
                               .slots = (unsigned)c->slots,
                               .lease_ms = c->lease,
                               .grace_ms = c->grace,
                               .tools = tools,
                               .reread = c->tools.n > 0 ? read_files : NULL,
                               .arg = c,
                               .public_url = c->public_url,
                               .program = table->program,
                               .otlp = c->otlp,
                               .metrics_fd = -1};

    if (c->metrics != NULL) {
        conf.metrics_fd = health_listen(c->metrics_host, c->metrics_port, why);
        if (conf.metrics_fd < 0)
            return complain(table->program, why);
    }
    event_setup_named(table->program, c->log, c->log_level);
    return worker_serve(&conf);
}

static int probe(const struct conf *c, const char *program, struct buf *why)
{
    const char *path = strcmp(c->probe, "live") == 0 ? "/healthz" : "/readyz";

    if (probe_http(c->metrics_host, c->metrics_port, path, why))
        return CFG_EXIT_OK;
    (void)complain(program, why);
    return CFG_EXIT_FAILURE;
}

static int boot(const struct cfg *table, int argc, char **argv, const struct errand_tool *tools,
                size_t count)
{
    struct conf c = {0};
    struct tools all = {0};
    struct buf why;
    int code = CFG_EXIT_OK;
    enum cfg_outcome outcome;

    buf_init(&why, WHY_MAX);
    outcome = conf_read(table, &c, argc, argv, &why);
    if (outcome == CFG_READY && c.probe != NULL)
        code = probe(&c, table->program, &why);
    else if (outcome == CFG_BAD ||
             (outcome == CFG_READY && !gather_tools(&all, &c, tools, count, &why)))
        code = complain(table->program, &why);
    else if (outcome == CFG_READY)
        code = serve(&c, table, &all, &why);
    tools_fini(&all);
    conf_fini(table, &c);
    buf_fini(&why);
    return code;
}

int worker_boot(int argc, char **argv, const struct errand_tool *tools, size_t count)
{
    struct cfg own = conf_table_without_tools(
        base_name(argv[0]), "serves the tools that this program has handlers for");

    hold_standard_descriptors();
    if (seal_init() < 0) {
        (void)fprintf(stderr, "%s: there is no source of random numbers\n", own.program);
        return CFG_EXIT_FAILURE;
    }
    return boot(tools != NULL ? &own : &conf_table, argc, argv, tools, count);
}

int errand_worker_main(int argc, char **argv, const struct errand_tool *tools, size_t count)
{
    return worker_boot(argc, argv, tools, count);
}
