#include "common/schema_inside.h"

#include <string.h>

enum { ALL = DRAFT_07 | DRAFT_2019 | DRAFT_2020, LATE = DRAFT_2019 | DRAFT_2020 };

/* What other keywords depend on stands before them; what is left over is looked at last. */
const struct keyword schema_keywords[] = {
    {"$schema", ALL, SHAPE_TEXT, ON_ANY, NULL},
    {"$id", ALL, SHAPE_TEXT, ON_ANY, NULL},
    {"$anchor", LATE, SHAPE_TEXT, ON_ANY, NULL},
    {"$comment", ALL, SHAPE_NOTED, ON_ANY, NULL},
    {"$dynamicRef", DRAFT_2020, SHAPE_REFUSED, ON_ANY, NULL},
    {"$dynamicAnchor", DRAFT_2020, SHAPE_REFUSED, ON_ANY, NULL},
    {"$recursiveRef", DRAFT_2019, SHAPE_REFUSED, ON_ANY, NULL},
    {"$recursiveAnchor", DRAFT_2019, SHAPE_REFUSED, ON_ANY, NULL},
    {"$vocabulary", LATE, SHAPE_REFUSED, ON_ANY, NULL},
    {"$defs", LATE, SHAPE_DEFS, ON_ANY, NULL},
    {"definitions", ALL, SHAPE_DEFS, ON_ANY, NULL},
    {"$ref", ALL, SHAPE_REF, ON_ANY, check_ref},

    {"type", ALL, SHAPE_TYPES, ON_ANY, check_type},
    {"enum", ALL, SHAPE_LIST, ON_ANY, check_enum},
    {"const", ALL, SHAPE_ANY, ON_ANY, check_const},
    {"multipleOf", ALL, SHAPE_POSITIVE, ON_NUMBER, check_multiple},
    {"minimum", ALL, SHAPE_NUMBER, ON_NUMBER, check_minimum},
    {"maximum", ALL, SHAPE_NUMBER, ON_NUMBER, check_maximum},
    {"exclusiveMinimum", ALL, SHAPE_NUMBER, ON_NUMBER, check_above},
    {"exclusiveMaximum", ALL, SHAPE_NUMBER, ON_NUMBER, check_below},
    {"minLength", ALL, SHAPE_COUNT, ON_STRING, check_min_length},
    {"maxLength", ALL, SHAPE_COUNT, ON_STRING, check_max_length},
    {"pattern", ALL, SHAPE_PATTERN, ON_STRING, check_pattern},

    {"required", ALL, SHAPE_NAMES, ON_OBJECT, check_required},
    {"minProperties", ALL, SHAPE_COUNT, ON_OBJECT, check_min_members},
    {"maxProperties", ALL, SHAPE_COUNT, ON_OBJECT, check_max_members},
    {"dependentRequired", LATE, SHAPE_NAME_LISTS, ON_OBJECT, check_dependent_required},
    {"propertyNames", ALL, SHAPE_SCHEMA, ON_OBJECT, check_names},
    {"properties", ALL, SHAPE_MAP, ON_OBJECT, check_properties},
    {"patternProperties", ALL, SHAPE_PATTERNS, ON_OBJECT, check_patterns},
    {"additionalProperties", ALL, SHAPE_SCHEMA, ON_OBJECT, check_additional},

    {"minItems", ALL, SHAPE_COUNT, ON_ARRAY, check_min_items},
    {"maxItems", ALL, SHAPE_COUNT, ON_ARRAY, check_max_items},
    {"uniqueItems", ALL, SHAPE_BOOL, ON_ARRAY, check_unique},
    {"prefixItems", DRAFT_2020, SHAPE_SCHEMAS, ON_ARRAY, check_prefix},
    {"items", DRAFT_2020, SHAPE_SCHEMA, ON_ARRAY, check_rest},
    {"items", DRAFT_07 | DRAFT_2019, SHAPE_ITEMS, ON_ARRAY, check_items},
    {"additionalItems", DRAFT_07 | DRAFT_2019, SHAPE_SCHEMA, ON_ARRAY, check_rest},
    {"minContains", LATE, SHAPE_COUNT, ON_ANY, NULL},
    {"maxContains", LATE, SHAPE_COUNT, ON_ANY, NULL},
    {"contains", ALL, SHAPE_SCHEMA, ON_ARRAY, check_contains},

    {"dependentSchemas", LATE, SHAPE_MAP, ON_OBJECT, check_dependent},
    {"dependencies", ALL, SHAPE_DEPENDENCIES, ON_OBJECT, check_dependent},
    {"allOf", ALL, SHAPE_SCHEMAS, ON_ANY, check_all},
    {"anyOf", ALL, SHAPE_SCHEMAS, ON_ANY, check_any},
    {"oneOf", ALL, SHAPE_SCHEMAS, ON_ANY, check_one},
    {"not", ALL, SHAPE_SCHEMA, ON_ANY, check_not},
    {"then", ALL, SHAPE_SCHEMA, ON_ANY, NULL},
    {"else", ALL, SHAPE_SCHEMA, ON_ANY, NULL},
    {"if", ALL, SHAPE_SCHEMA, ON_ANY, check_if},

    {"unevaluatedItems", LATE, SHAPE_SCHEMA, ON_ARRAY, check_unevaluated_items},
    {"unevaluatedProperties", LATE, SHAPE_SCHEMA, ON_OBJECT, check_unevaluated_members},
    {NULL, 0, SHAPE_ANY, ON_ANY, NULL},
};

const struct rule *rule_beside(const struct rule *r, const char *name)
{
    for (size_t i = 0; i < r->owner->n; i++)
        if (strcmp(r->owner->rules[i].key->name, name) == 0)
            return &r->owner->rules[i];
    return NULL;
}
