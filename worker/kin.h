/* kin.h - the processes right below this one, as the kernel lists them.
 *
 * A subreaper's kin are its own children and every process below it whose parent has died. Who
 * kills all kin and reaps them until there are none has ended everything that was below it,
 * whatever sessions or groups it fled to.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The direct children of the calling process, dead ones not yet reaped included. At most room of
 * them; a list read while children come and go may miss some: ask again until none is left. Only
 * for the main thread of a process, or a process of one thread. */
size_t kin_list(pid_t *out, size_t room);
/* Sends sig to each of them but `spare` (0: none). Returns how many there were. */
size_t kin_signal(int sig, pid_t spare);
