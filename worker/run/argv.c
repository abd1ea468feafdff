#include "worker/run/argv.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "worker/keeper.h"
#include "worker/run/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 4 << 20, NAME_MAX_LEN = 128 };

/* The length of a placeholder's name when one begins at p, or 0. */
static size_t name_at(const char *p)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_.-";
    size_t n = p[0] == '{' ? strspn(p + 1, allowed) : 0;

    return n > 0 && n < NAME_MAX_LEN && p[1 + n] == '}' ? n : 0;
}

static bool add_argument(struct buf *out, const struct run_job *job, const char *name, size_t n)
{
    char key[NAME_MAX_LEN];
    struct span value;
    char *text;

    (void)snprintf(key, sizeof(key), "%.*s", (int)n, name);
    value = json_get(job->arguments, key);
    if (json_type(value) != JSON_STRING) {
        buf_add_span(out, value);
        return true;
    }
    text = tool_text(value);
    if (text != NULL)
        buf_adds(out, text);
    free(text);
    return text != NULL;
}

static bool add_word(struct argv *a, size_t at, const struct run_job *job, const char **why)
{
    struct buf out;
    size_t n;

    buf_init(&out, WORD_MAX);
    for (const char *p = job->tool->command.items[at]; *p != '\0'; p += n > 0 ? n + 2 : 1) {
        n = name_at(p);
        if (n == 0) {
            buf_addc(&out, *p);
        } else if (!add_argument(&out, job, p + 1, n)) {
            *why = "an argument holds U+0000, which no command line can carry";
            buf_fini(&out);
            return false;
        }
    }
    *why = "the arguments are too long for a command line";
    if (!buf_ok(&out)) {
        buf_fini(&out);
        return false;
    }
    a->words[at] = buf_take(&out);
    return true;
}

static void make_env(struct argv *a, const struct run_job *job)
{
    const struct tool_list *through = &job->tool->env;
    struct env env;

    env_init(&env);
    for (size_t i = 0; i < through->n; i++)
        env_pass(&env, through->items[i]);
    env_job(&env, job, KEEPER_TALK);
    a->env = env.items;
}

bool argv_make(struct argv *a, const struct run_job *job, const char **why)
{
    const struct tool_list *command = &job->tool->command;

    a->words = mem_zalloc((command->n + 1) * sizeof(*a->words));
    a->env = NULL;
    for (size_t i = 0; i < command->n; i++) {
        if (!add_word(a, i, job, why)) {
            argv_fini(a);
            return false;
        }
    }
    make_env(a, job);
    return true;
}

static void free_all(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

void argv_fini(struct argv *a)
{
    free_all(a->words);
    free_all(a->env);
    *a = (struct argv){0};
}
