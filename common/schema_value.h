/* schema_value.h - checked JSON as a tree for schemas: strings decoded, members found by name. */
#pragma once

#include "common/json.h"

struct arena {
    struct arena_chunk *head;
};

void arena_fini(struct arena *a);
void *arena_get(struct arena *a, size_t n); /* zeroed */

struct value {
    enum json_type type;
    unsigned place; /* among its siblings */
    size_t count; /* children */
    struct span raw; /* the bytes as they were written */
    struct span text; /* STRING: decoded; may hold U+0000 */
    struct span name; /* of a member: decoded */
    double number;
    int64_t whole; /* the number, exactly, when is_exact */
    bool is_exact;
    bool is_integer; /* in value: 1.0 is one */
    bool truth;
    bool is_name; /* stands for the name of a member, in propertyNames */
    struct value *up;
    struct value *first;
    struct value *next;
    struct value **sorted; /* by name; NULL for small objects */
    struct node *node; /* a schema: compiled */
    struct resource *resource; /* a schema with an identifier of its own */
};

/* text must outlive the tree: what holds no escape points into it. NULL, and a static sentence,
 * for more than values_max values, a tree that is too deep, or an object with two members of one
 * name. */
struct value *value_parse(struct arena *a, struct span text, size_t values_max, const char **why);

struct value *value_get(const struct value *object, struct span name);
struct value *value_find(const struct value *object, const char *name);
struct value *value_at(const struct value *array, size_t place);

/* Less than, equal to or greater than 0. */
int value_compare_numbers(const struct value *a, const struct value *b);
/* Equal in value, as JSON Schema has it; *steps grows by the values looked at. */
bool value_equal(const struct value *a, const struct value *b, size_t *steps);
/* Two equal elements: the later one, or NULL. Gives up when *steps passes steps_max. */
const struct value *value_twice(const struct value *array, size_t *steps, size_t steps_max);
size_t value_length(const struct value *string); /* in code points */
