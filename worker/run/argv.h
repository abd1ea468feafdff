/* argv.h - the words and the environment of a command's process. */
#pragma once

#include "worker/run.h"

struct argv {
    char **words; /* owned, NULL-terminated */
    char **env;
};

/* {name} in a word becomes that argument: a string as it is, anything else as its JSON text, one
 * that is not there as nothing. What was put in is not looked at again, and no shell reads it.
 * False when an argument cannot be a word of a command line; *why then is a static sentence. */
bool argv_make(struct argv *a, const struct run_job *job, const char **why);
void argv_fini(struct argv *a);
