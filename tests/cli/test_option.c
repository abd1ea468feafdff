#include "deploy/cli/option.h"

#include "common/mem.h"
#include "deploy/cli/command.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 12 };

/* The sentence about these words, as errand would read them; "" when nothing is wrong. */
static const char *said(const char *const *words)
{
    static char text[512];
    char *argv[WORDS_MAX] = {NULL};
    char *items[WORDS_MAX];
    struct cfg_rest rest = {.items = items};
    struct conf c = {0};
    struct buf why;
    int argc = 0;

    for (; words[argc] != NULL; argc++)
        argv[argc] = mem_dup(words[argc], strlen(words[argc]));
    buf_init(&why, sizeof(text));
    CHECK(conf_read(&c, argc, argv, &rest, &why) == CFG_READY);
    CHECK(option_check(&c, rest.items, rest.n, &why) == (why.n == 0));
    (void)snprintf(text, sizeof(text), "%.*s", (int)why.n, why.n > 0 ? why.p : "");
    buf_fini(&why);
    conf_fini(&c);
    while (argc > 0)
        free(argv[--argc]);
    return text;
}

#define SAID(...) said((const char *const[]){"errand", __VA_ARGS__, NULL})

TEST(an_option_of_another_command_is_refused_and_whose_it_is_is_said)
{
    CHECK(strcmp(SAID("tools", "--run", "x"), "--run is for tools check: leave it out") == 0);
    CHECK(strcmp(SAID("tasks", "--detach"), "--detach is for call: leave it out") == 0);
    CHECK(strcmp(SAID("--no-input", "get", "x"),
                 "--no-input is for call, result, tools check: leave it out") == 0);
    CHECK(SAID("key", "list", "--admin")[0] != '\0');
    CHECK(SAID("key", "list", "--name", "x")[0] != '\0');
    CHECK(strstr(SAID("key", "new", "--name", "x", "--overlap", "5m"), "key new --rotate") != NULL);
    CHECK(SAID("key", "new", "--name", "x", "--overlap", "5m", "--rotate")[0] == '\0');
}

TEST(an_option_is_taken_by_each_command_that_its_help_names_and_by_all_where_it_names_none)
{
    CHECK(SAID("tools", "check", "f", "--run", "x", "--no-input")[0] == '\0');
    CHECK(SAID("result", "x", "--no-input")[0] == '\0');
    CHECK(SAID("key", "revoke", "--name", "x")[0] == '\0');
    CHECK(SAID("dead", "--limit", "5")[0] == '\0' && SAID("tasks", "--limit", "5")[0] == '\0');
    CHECK(SAID("tools", "--json", "--redis", "redis://h", "--prefix", "p")[0] == '\0');
    CHECK(SAID("queue", "--url", "http://h/mcp", "--key", "k")[0] == '\0');
    CHECK(SAID("help", "--run", "x")[0] == '\0');
}

TEST(a_help_that_begins_with_a_name_begins_with_a_commands)
{
    struct buf list;

    buf_init(&list, 1 << 16);
    command_list(&list);
    for (size_t i = 0; i < conf_table.count; i++) {
        const char *help = conf_table.rows[i].help;
        char line[64];

        if (strstr(help, ": ") == NULL || strncmp(help, "client commands", 15) == 0 ||
            strncmp(help, "operator commands", 17) == 0)
            continue;
        (void)snprintf(line, sizeof(line), "\n  %.*s ", (int)strcspn(help, " ,:"), help);
        CHECK(strstr(list.p, line) != NULL);
    }
    buf_fini(&list);
}
