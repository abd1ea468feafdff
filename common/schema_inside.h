/* schema_inside.h - what the schema*.c files share: a schema as a graph of nodes and rules. */
#pragma once

#include "common/schema.h"
#include "common/schema_value.h"

enum draft { DRAFT_07 = 1, DRAFT_2019 = 2, DRAFT_2020 = 4 };

/* What a keyword's value must be, and so what is made of it. */
enum shape {
    SHAPE_ANY,
    SHAPE_NOTED, /* an annotation, or read with another keyword */
    SHAPE_REFUSED,
    SHAPE_TYPES,
    SHAPE_LIST, /* enum */
    SHAPE_NUMBER,
    SHAPE_POSITIVE, /* multipleOf */
    SHAPE_COUNT,
    SHAPE_BOOL,
    SHAPE_TEXT,
    SHAPE_PATTERN,
    SHAPE_REF,
    SHAPE_NAMES,
    SHAPE_NAME_LISTS, /* dependentRequired */
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,
    SHAPE_ITEMS, /* a schema, or several */
    SHAPE_MAP,
    SHAPE_PATTERNS,
    SHAPE_DEPENDENCIES,
    SHAPE_DEFS, /* schemas that apply only where they are referred to */
};

struct eval;
struct rule;
/* marks: one byte a child of v that has been evaluated, or NULL when nobody asks. */
typedef bool check_fn(struct eval *e, const struct rule *r, const struct value *v,
                      unsigned char *marks);

enum { /* types that a keyword looks at */
       ON_ANY = 0,
       ON_NUMBER = 1U << JSON_NUMBER,
       ON_STRING = 1U << JSON_STRING,
       ON_ARRAY = 1U << JSON_ARRAY,
       ON_OBJECT = 1U << JSON_OBJECT,
};

struct keyword {
    const char *name;
    unsigned drafts;
    enum shape shape;
    unsigned on;
    check_fn *check; /* NULL: nothing by itself */
};

struct node;
struct pattern;

struct rule {
    const struct keyword *key;
    struct value *arg;
    const struct node *owner;
    struct node *node; /* the schema that it applies */
    struct node **nodes; /* or several, in the order of arg's children; NULL where none */
    struct pattern **patterns; /* in the same order; pattern: one */
    unsigned types; /* bits of enum json_type; bit 0: integer */
};

struct node {
    struct value *src;
    struct node *pending; /* to be compiled */
    bool is_false;
    bool wants_marks; /* has unevaluated... */
    struct rule *rules;
    size_t n;
};

/* A schema with an identifier, and its anchors. */
struct resource {
    struct resource *next;
    struct value *root;
    struct span uri; /* absolute, without a fragment; "" for a document without $id */
};

struct anchor {
    struct anchor *next;
    const struct resource *in;
    struct span name;
    struct value *at;
};

struct schema {
    struct arena arena;
    struct value *doc;
    enum draft draft;
    struct node *root;
    struct node *pending;
    struct resource *resources;
    struct anchor *anchors;
    struct pattern *all_patterns;
    bool is_open;
    struct buf *why; /* while compiling */
};

/* --- schema_keyword.c --- */
extern const struct keyword
    schema_keywords[]; /* in the order of evaluation; ends with a NULL name */
const struct rule *rule_beside(const struct rule *r, const char *name);

/* --- schema_compile.c --- */
bool schema_refuse(struct schema *s, const struct value *at, const char *keyword, const char *what);
struct node *schema_node(struct schema *s, struct value *v);

/* --- schema_ref.c --- */
bool schema_index(struct schema *s); /* finds identifiers and anchors */
struct value *schema_resolve(const struct schema *s, const struct value *from, struct span ref);
void uri_resolve(struct buf *out, struct span base, struct span ref);

/* --- schema_pattern.c: the only user of PCRE2 --- */
enum matched { MATCH_NO, MATCH_YES, MATCH_LIMIT };
struct pattern *pattern_new(struct pattern *next, struct span text, struct buf *why);
void pattern_free_all(struct pattern *p);
/* *us: the time that is left for matching; shrinks. */
enum matched pattern_match(const struct pattern *p, struct span text, int64_t *us);

/* --- schema_eval.c --- */
struct failure {
    const struct value *at;
    const struct rule *rule; /* NULL: nothing is allowed there */
    const struct value *name; /* of what is missing */
    size_t n; /* how many fitted */
};

struct eval {
    struct arena arena;
    enum draft draft;
    struct failure fail;
    const char *stop; /* a limit was passed: why */
    size_t steps;
    size_t steps_max;
    unsigned depth;
    int64_t match_us;
};

bool node_fits(struct eval *e, const struct node *n, const struct value *v, unsigned char *marks);
bool eval_fail(struct eval *e, const struct rule *r, const struct value *v);
bool eval_stop(struct eval *e, const char *why);

/* --- schema_say.c --- */
void schema_add_path(struct buf *out, const struct value *v);
void schema_say(struct eval *e, const struct failure *f, struct buf *out);

/* --- the checks, by what they look at --- */
check_fn check_type, check_enum, check_const; /* schema_eval.c */
check_fn check_multiple, check_minimum, check_maximum, check_above, check_below;
check_fn check_min_length, check_max_length, check_pattern;
check_fn check_ref, check_all, check_any, check_one, check_not, check_if; /* schema_apply.c */
check_fn check_min_members, check_max_members, check_required; /* schema_object.c */
check_fn check_dependent_required, check_dependent, check_properties, check_patterns;
check_fn check_additional, check_names, check_unevaluated_members;
check_fn check_min_items, check_max_items, check_unique; /* schema_array.c */
check_fn check_prefix, check_items, check_rest, check_contains, check_unevaluated_items;
