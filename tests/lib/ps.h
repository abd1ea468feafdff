/* ps.h - looking at the processes of this machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many live processes have this word as one of their arguments. Zombies have none. */
unsigned ps_count(const char *word);
/* The first of them, or 0. */
int ps_find(const char *word);
/* Waits until exactly n are left. */
bool ps_wait(const char *word, unsigned n, unsigned ms);
/* A word that no other process has, for an argument of sleep(1): a long time. */
const char *ps_mark(char out[static 32]);
/* Open descriptors of this process, and its children that nobody has reaped. */
unsigned ps_fds(void);
unsigned ps_zombies(void);
unsigned ps_fds_of(int pid);
unsigned ps_zombies_of(int pid);
