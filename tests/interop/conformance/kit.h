/* kit.h - what the fixture tools of the conformance suite share. */
#pragma once

#include "worker/errand_worker.h"

/* The declaration of a tool; more: further members, from the inputSchema on. */
#define DECLARE(name, description, more) \
    "{\"name\":\"" name "\",\"description\":\"" description "\"," more "}"
#define NO_ARGUMENTS "\"inputSchema\":{\"type\":\"object\",\"properties\":{}}"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Each file of tools has one list. */
struct tool_list {
    const struct errand_tool *tools;
    size_t count;
};
extern const struct tool_list content_tools;
extern const struct tool_list telling_tools;
extern const struct tool_list asking_tools;
extern const struct tool_list round_tools;
extern const struct tool_list task_tools;
extern const struct tool_list change_tools;

/* change.c: runs this program's words again, for a tool that comes and goes. */
void change_remember(char **argv);
/* True: this is that run, and its main is change_main(). */
bool change_is_second(void);
int change_main(int argc, char **argv);

/* The result: one text block. */
__attribute__((format(printf, 2, 3))) void say(struct errand_job *job, const char *format, ...);
/* The handler of a tool that always ends the same: arg is its CallToolResult. */
errand_handler on_always;
/* Asks one question by that name; what was accepted, or NULL when the job then has its outcome: it
 * was not accepted. The text lives until the next question. */
const char *ask_named(struct errand_job *job, const char *name, const char *method,
                      const char *params);
/* A string member of a JSON object, decoded; "" when there is none. The caller's. */
char *member(const char *object, const char *name);
/* The text that a model has answered, from the result of sampling/createMessage. The caller's. */
char *sampled(const char *result);
