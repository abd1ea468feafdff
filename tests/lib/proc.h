/* proc.h - waiting for facts, free ports, child programs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event_base;

/* Asks fact() every few ms until it is true or the deadline has passed; says which. */
bool wait_for(unsigned ms, bool (*fact)(void *arg), void *arg);
/* The same while turning an event loop. */
bool turn_until(struct event_base *base, unsigned ms, bool (*fact)(void *arg), void *arg);
/* For what is promised within a time, or not before one, which a busy machine may miss without
 * fault (a timer counts from when its loop last looked): true when one of three tries keeps it. */
bool in_time(bool (*once)(void));
/* A few times at least, even if the machine stands still for all of the time. */
void turn_for(struct event_base *base, unsigned ms);
/* None of those that the system gives to outgoing connections, which may take one at any time. */
uint16_t free_port(void);
void remove_tree(const char *dir); /* only under /tmp */

/* Starts a program (argv[0] a path), output to `log`; it dies with us. -1 on failure. */
int proc_start(const char *const *argv, const char *log);
int proc_wait(int pid, unsigned ms); /* exit status as a shell says it; -1: still running */
bool proc_alive(int pid);
