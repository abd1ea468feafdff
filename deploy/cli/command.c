#include "deploy/cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PRINT_MAX = 1 << 16 };

static const struct {
    const char *name;
    command_fn *fn;
    size_t least;
    size_t most;
    const char *usage;
    const char *what;
} commands[] = {
#define X(name, fn, least, most, usage, what) {name, fn, least, most, usage, what},
#include "deploy/cli/command.def"
#undef X
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

int complain(int status, const char *format, ...)
{
    va_list ap;

    (void)fputs("errand: ", stderr);
    va_start(ap, format);
    (void)vfprintf(stderr, format, ap);
    va_end(ap);
    (void)fputc('\n', stderr);
    return status;
}

/* What stands before a command's usage, where it has one. */
static const char *gap(size_t i)
{
    return commands[i].usage[0] != '\0' ? " " : "";
}

void command_list(struct buf *out)
{
    buf_adds(out, "usage: errand COMMAND [ARGUMENT...] [OPTION...]\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        buf_addf(out, "  %-7s %s%s%s\n", commands[i].name, commands[i].usage,
                 commands[i].usage[0] != '\0' ? ": " : "", commands[i].what);
    buf_adds(out, "\nerrand help COMMAND explains one of them, errand --help the options.\n");
}

static void add_cell(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

void command_docs(struct buf *out)
{
    buf_adds(out,
             "# Commands of errand\n\n"
             "Client commands speak MCP to a broker (`--url`, `--key`), operator commands speak "
             "to Redis (`--redis`, `--prefix`). Every command prints for people, and JSON with "
             "`--json`. Status: 0 done, 1 failed, 2 bad usage, 130 stopped by Ctrl-C. The "
             "options are in [config.md](config.md).\n\n"
             "| command | what it does |\n|---|---|\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        buf_addf(out, "| `errand %s%s", commands[i].name, gap(i));
        add_cell(out, commands[i].usage);
        buf_adds(out, "` | ");
        add_cell(out, commands[i].what);
        buf_adds(out, " |\n");
    }
    buf_adds(
        out,
        "\n`call` and `result` show on standard error how it goes: a bar on a terminal, else a "
        "line for each change; log lines as `LEVEL logger: text`. What a job asks is asked at "
        "the terminal, field by field; an empty line takes the default or leaves out what is "
        "optional, choices go by number, value or title, several with commas between them, "
        "and Ctrl-D declines. An address is shown, and Enter accepts it. A question outlives "
        "its broker and is put once. Without a terminal (standard input and standard error), "
        "`call` declines at once, and `result` leaves the question to others. Sampling is "
        "refused.\n\nA broker that was reached and answers no more, is busy, or cannot reach "
        "Redis is asked again for two minutes. Where a tool cannot run as a task, `call` refuses "
        "`--detach` and `--ttl`, and `--plain` where it cannot run otherwise.\n");
}

static int run(size_t i, const struct conf *c, char **args, size_t count)
{
    if (count < commands[i].least)
        return complain(EXIT_USAGE, "%s: it needs more; write errand %s %s", commands[i].name,
                        commands[i].name, commands[i].usage);
    if (count > commands[i].most)
        return complain(EXIT_USAGE, "%s: \"%.64s\" is too much; write errand %s%s%s",
                        commands[i].name, args[commands[i].most], commands[i].name, gap(i),
                        commands[i].usage);
    return commands[i].fn(c, args, count);
}

/* COMMANDS: there is none of this name. */
static size_t find(const char *name)
{
    size_t i = 0;

    while (i < COMMANDS && strcmp(name, commands[i].name) != 0)
        i++;
    return i;
}

static int unknown(const char *name)
{
    return complain(EXIT_USAGE, "there is no command \"%.64s\"; errand help lists them", name);
}

static int explain(const char *name)
{
    size_t i = find(name);

    if (i == COMMANDS)
        return unknown(name);
    (void)printf("usage: errand %s%s%s [OPTION...]\n\n%s\n\nerrand --help explains the options.\n",
                 commands[i].name, gap(i), commands[i].usage, commands[i].what);
    return EXIT_OK;
}

static int list(FILE *to, int status)
{
    struct buf out;

    buf_init(&out, PRINT_MAX);
    command_list(&out);
    (void)fputs(out.p, to);
    buf_fini(&out);
    return status;
}

int command_run(const struct conf *c, char **rest, size_t count)
{
    size_t i;

    if (count == 0)
        return list(stderr, EXIT_USAGE);
    if (strcmp(rest[0], "help") == 0)
        return count > 1 ? explain(rest[1]) : list(stdout, EXIT_OK);
    i = find(rest[0]);
    return i < COMMANDS ? run(i, c, rest + 1, count - 1) : unknown(rest[0]);
}
