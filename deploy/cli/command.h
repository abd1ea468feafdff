/* command.h - what errand can be told to do: one function a command, declared in command.def. */
#pragma once

#include "common/buf.h"

struct conf;

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };

/* Runs one command and returns its exit status. args are its arguments, as many as its row allows.
 * What goes wrong is said on standard error, in one line. */
typedef int command_fn(const struct conf *c, char **args, size_t count);

#define X(name, fn, ...) command_fn fn;
#include "deploy/cli/command.def"
#undef X

/* rest[0] names the command. */
int command_run(const struct conf *c, char **rest, size_t count);
void command_list(struct buf *out); /* for people: one line each */
void command_docs(struct buf *out); /* docs/commands.md */
/* "errand: " and a sentence on standard error; returns status. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
