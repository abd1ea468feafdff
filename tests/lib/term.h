/* term.h - one run of a program at a terminal, and somebody who reads and types there. */
#pragma once

#include "tests/lib/prog.h"

#include <stddef.h>

struct term {
    int pid;
    int fd; /* the terminal's other side */
    int out_fd; /* standard output: a temporary file */
    int status;
    char *seen; /* all that the terminal has shown, NUL-terminated */
    size_t n;
    size_t from; /* behind what term_says() has found */
    char *out; /* after term_end() */
};

/* Standard input and standard error are the terminal. As prog_start() otherwise. */
void term_start(struct term *t, const char *const *argv, const char *const *env);
/* It shows this text, within 10 s, behind what was found before. */
bool term_says(struct term *t, const char *text);
void term_type(struct term *t, const char *text); /* "\r" is Enter, "\4" Ctrl-D, "\3" Ctrl-C */
bool term_end(struct term *t, unsigned ms); /* as prog_end() */
void term_fini(struct term *t);
