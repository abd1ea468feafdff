#include "worker/run/env.h"

#include "common/mem.h"
#include "worker/tool_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 1 << 20 };

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static bool is_ours(const char *name)
{
    static const char *const ours[] = {"ERRAND_TASK_ID", "ERRAND_ATTEMPT", "ERRAND_PRINCIPAL",
                                       "ERRAND_FD", "TRACEPARENT"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcmp(ours[i], name) == 0)
            return true;
    return false;
}

static void wipe(char *item)
{
    explicit_bzero(item, strlen(item));
    free(item);
}

static char **place_of(struct env *e, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < e->n; i++)
        if (strncmp(e->items[i], name, n) == 0 && e->items[i][n] == '=')
            return &e->items[i];
    return NULL;
}

static void put(struct env *e, const char *name, const char *value)
{
    size_t n = strlen(name) + strlen(value) + 2;
    char *text = mem_alloc(n);
    char **place = place_of(e, name);

    (void)snprintf(text, n, "%s=%s", name, value);
    if (place != NULL) {
        wipe(*place);
        *place = text;
        return;
    }
    e->items = mem_grow(e->items, (e->n + 2) * sizeof(*e->items));
    e->items[e->n++] = text;
    e->items[e->n] = NULL;
}

void env_set(struct env *e, const char *name, const char *value)
{
    if (!is_ours(name))
        put(e, name, value);
}

void env_pass(struct env *e, const char *name)
{
    const char *value = getenv(name);

    if (value != NULL)
        env_set(e, name, value);
}

void env_init(struct env *e)
{
    *e = (struct env){0};
    put(e, "PATH", default_path);
    env_pass(e, "PATH");
    env_pass(e, "HOME");
    env_pass(e, "LANG");
}

void env_fini(struct env *e)
{
    for (size_t i = 0; i < e->n; i++)
        wipe(e->items[i]);
    free(e->items);
    *e = (struct env){0};
}

void env_job(struct env *e, const struct run_job *job, int fd)
{
    char number[16];

    put(e, "ERRAND_TASK_ID", job->id);
    (void)snprintf(number, sizeof(number), "%u", job->attempt);
    put(e, "ERRAND_ATTEMPT", number);
    put(e, "ERRAND_PRINCIPAL", job->principal);
    if (job->trace[0] != '\0')
        put(e, "TRACEPARENT", job->trace);
    if (fd == 0)
        return;
    (void)snprintf(number, sizeof(number), "%d", fd);
    put(e, "ERRAND_FD", number);
}

static bool set_expanded(struct env *e, const char *name, const char *text, struct buf *why)
{
    struct buf value;
    bool ok;

    buf_init_secret(&value, VALUE_MAX);
    ok = text_expand(&value, text, why);
    if (ok && !buf_ok(&value)) {
        buf_addf(why, "the value for %s is larger than 1 MiB", name);
        ok = false;
    }
    if (ok)
        env_set(e, name, buf_span(&value).p);
    buf_wipe(&value);
    return ok;
}

bool env_of_server(struct env *e, const struct tool_server *s, const struct run_job *job,
                   struct buf *why)
{
    env_init(e);
    for (size_t i = 0; i + 1 < s->env.n; i += 2)
        if (!set_expanded(e, s->env.items[i], s->env.items[i + 1], why))
            return false;
    if (job != NULL)
        env_job(e, job, 0);
    return true;
}
