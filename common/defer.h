/* defer.h - calls put off to the next turn of the loop, made once, in the order they were asked.
 *
 * For whoever promises never to call back from inside a call. What is put off while the calls of
 * one turn are being made waits for the turn after, so that a caller who tries again at once
 * cannot starve the loop.
 */
#pragma once

struct defer;
struct event_base;

typedef void defer_fn(void *arg);

struct defer *defer_new(struct event_base *base);
/* Forgets what is still put off. May be called from inside a call that was put off. */
void defer_free(struct defer *d);
void defer_call(struct defer *d, defer_fn *fn, void *arg);
