/* resolve.h - a host name's addresses, without holding up the loop.
 *
 * Numbers and "localhost" are known at once. Any other name is looked up as the system does it
 * (hosts file, nsswitch, DNS), in a thread of its own that shares nothing but the question and
 * the answer: a name server that does not answer costs a thread, never a turn of the loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { RESOLVE_MAX = 16 };

struct resolve_list {
    size_t n;
    struct resolve_address {
        struct sockaddr_storage sa;
        socklen_t size;
    } at[RESOLVE_MAX];
};

struct event_base;
struct resolve;

/* Called once, from the loop. list is borrowed; NULL on failure, and then why says what failed. */
typedef void resolve_fn(void *arg, const struct resolve_list *list, const char *why);

/* True when no lookup is needed; the list is then filled. */
bool resolve_now(const char *host, uint16_t port, struct resolve_list *list);
struct resolve *resolve_start(struct event_base *base, const char *host, uint16_t port,
                              resolve_fn *fn, void *arg);
/* fn will not be called. Not after it was. */
void resolve_cancel(struct resolve *q);
