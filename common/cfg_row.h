/* cfg_row.h - one option: its row, its field in a program's struct, a value put there by text.
 *
 * Used through cfg.h, which says what the types mean.
 */
#pragma once

#include "common/buf.h"
#include "common/cfg_unit.h"
#include "common/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfg_type { CFG_TEXT, CFG_TIME, CFG_SIZE, CFG_COUNT, CFG_RATE, CFG_BOOL, CFG_LIST };

struct cfg_list {
    char **items;
    size_t n;
};

typedef char *CFG_C_TEXT;
typedef uint64_t CFG_C_TIME;
typedef uint64_t CFG_C_SIZE;
typedef uint64_t CFG_C_COUNT;
typedef uint64_t CFG_C_RATE;
typedef bool CFG_C_BOOL;
typedef struct cfg_list CFG_C_LIST;

struct cfg_row {
    const char *name;
    enum cfg_type type;
    size_t offset; /* of the field in the program's struct */
    const char *def; /* as text; NULL: no value */
    uint64_t min; /* of the number; of the bytes of a TEXT */
    uint64_t max; /* 0: no bound */
    const char *choices; /* "none|key|jwt" or NULL */
    const char *help;
};

enum { CFG_ROWS_MAX = 64 };

/* Where an option's value comes from; the later beats the earlier. */
enum cfg_from { CFG_FROM_DEFAULT, CFG_FROM_FILE, CFG_FROM_ENV, CFG_FROM_FLAG };

/* The first member of every program's struct. */
struct cfg_base {
    unsigned char from[CFG_ROWS_MAX]; /* enum cfg_from of each row */
    char *file; /* of --config, or NULL */
};

/* A page of docs/ that a program writes beside config, events and metrics. */
struct cfg_page {
    const char *name; /* NULL ends the list */
    void (*write)(struct buf *out);
};

struct cfg {
    const char *program; /* "errand-broker" */
    const char *summary; /* one line for --help */
    const struct cfg_row *rows;
    size_t count;
    const char *rest; /* what positional arguments are called in --help; NULL: none allowed */
    const struct cfg_page *pages; /* NULL: none */
    const char *hint; /* a line below the usage in --help; NULL: none */
};

/* Puts the value into conf; of a LIST, the comma-separated items are added to those it has. On a
 * mistake nothing changes and why gets the sentence, which quotes the value unless it may be a
 * secret. */
bool cfg_row_set(const struct cfg_row *row, void *conf, const char *text, struct buf *why);
/* Adds one item, commas and all. */
void cfg_row_add(const struct cfg_row *row, void *conf, const char *item);
/* Empties the field. */
void cfg_row_clear(const struct cfg_row *row, void *conf);
/* By name; NULL. */
const struct cfg_row *cfg_row_find(const struct cfg_row *rows, size_t count, struct span name);
/* The name of a row that is at most two letters off; NULL. */
const char *cfg_row_near(const struct cfg *c, struct span name);
/* ERRAND_MAX_TTL for max-ttl. */
void cfg_row_variable(struct buf *out, const struct cfg_row *row);
enum cfg_unit cfg_row_unit(const struct cfg_row *row); /* of a number's row */
