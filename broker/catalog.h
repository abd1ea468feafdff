/* catalog.h - the tools on offer, and what wrapped servers offer beside them: this broker's copy of
 * what live workers announced.
 *
 * Read from the registry when it changes, and once a second for what leaves by growing old. The
 * list is sorted by name, so every broker pages through it alike.
 */
#pragma once

#include "broker/offer.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/store.h"
#include "common/task.h"

#include <stdbool.h>
#include <stdint.h>

struct catalog;
struct event_base;
struct schema;

enum task_support { SUPPORT_FORBIDDEN, SUPPORT_OPTIONAL, SUPPORT_REQUIRED };

struct tool {
    char *name;
    char *listed; /* the MCP Tool object with "execution", as L sessions from 2025-11-25 see it */
    char *plain; /* without it */
    enum task_support support;
    enum task_priority priority;
    uint64_t ttl_ms; /* 0: the broker's default */
    uint64_t poll_ms; /* 0: the broker's default */
    uint64_t promote_ms;
    uint64_t attempts;
    char *immediate; /* raw JSON string for model-immediate-response, or NULL (T-18) */
    char *needs; /* raw JSON: client capabilities it cannot do without, or NULL */
    bool conflict;
    struct schema *input; /* what arguments must be; NULL: it is not understood here */
    char *input_why; /* then a sentence */
};

/* What has changed: bits. */
enum { CATALOG_TOOLS = 1, CATALOG_PROMPTS = 2, CATALOG_RESOURCES = 4 };
typedef void catalog_fn(void *arg, unsigned what);

struct catalog *catalog_new(struct event_base *base, struct store *store, uint64_t grace_ms,
                            catalog_fn *on_change, void *arg);
void catalog_free(struct catalog *c);
void catalog_refresh(struct catalog *c); /* read it again now */
bool catalog_is_loaded(const struct catalog *c);
size_t catalog_count(const struct catalog *c);
const struct tool *catalog_at(const struct catalog *c, size_t i);
/* Borrowed until the loop turns; NULL: no such tool. */
const struct tool *catalog_find(const struct catalog *c, struct span name);
/* The index of the first tool whose name sorts after `name`. */
size_t catalog_after(const struct catalog *c, struct span name);
/* Borrowed until the loop turns. */
const struct offers *catalog_offers(const struct catalog *c);
