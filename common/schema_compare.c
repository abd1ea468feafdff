#include "common/mem.h"
#include "common/schema_value.h"

#include <stdlib.h>

int value_compare_numbers(const struct value *a, const struct value *b)
{
    if (a->is_exact && b->is_exact)
        return a->whole < b->whole ? -1 : a->whole > b->whole;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool equal_members(const struct value *a, const struct value *b, size_t *steps)
{
    for (const struct value *x = a->first; x != NULL; x = x->next) {
        const struct value *y = value_get(b, x->name);

        if (y == NULL || !value_equal(x, y, steps))
            return false;
    }
    return true;
}

static bool equal_elements(const struct value *a, const struct value *b, size_t *steps)
{
    const struct value *y = b->first;

    for (const struct value *x = a->first; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!value_equal(x, y, steps))
            return false;
    return true;
}

bool value_equal(const struct value *a, const struct value *b, size_t *steps)
{
    *steps += 1;
    if (a->type != b->type || a->count != b->count)
        return false;
    switch (a->type) {
    case JSON_OBJECT:
        return equal_members(a, b, steps);
    case JSON_ARRAY:
        return equal_elements(a, b, steps);
    case JSON_STRING:
        *steps += a->text.n / 64;
        return span_equal(a->text, b->text);
    case JSON_NUMBER:
        return value_compare_numbers(a, b) == 0;
    case JSON_BOOL:
        return a->truth == b->truth;
    case JSON_NONE:
    case JSON_NULL:
    default:
        return true;
    }
}

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
    const unsigned char *c = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ c[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Equal values have equal hashes. */
static uint64_t hash_of(const struct value *v)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)v->type * 31U + v->truth;
    double d = v->number + 0.0; /* -0 is 0 */
    uint64_t sum = 0;

    if (v->type == JSON_NUMBER)
        return hash_bytes(h, &d, sizeof(d));
    if (v->type == JSON_STRING)
        return hash_bytes(h, v->text.p, v->text.n);
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        if (v->type == JSON_ARRAY)
            h = (h ^ hash_of(c)) * UINT64_C(0x9e3779b97f4a7c15);
        else
            sum += hash_bytes(hash_of(c), c->name.p, c->name.n) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return h ^ sum;
}

struct hashed {
    uint64_t hash;
    const struct value *v;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a;
    const struct hashed *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->v->place < y->v->place ? -1 : x->v->place > y->v->place;
}

/* Of those with the hash of all[i], before i: is one equal? */
static bool has_equal(const struct hashed *all, size_t i, size_t *steps, size_t steps_max)
{
    for (size_t j = i; j > 0 && all[j - 1].hash == all[i].hash && *steps <= steps_max; j--)
        if (value_equal(all[j - 1].v, all[i].v, steps))
            return true;
    return false;
}

const struct value *value_twice(const struct value *array, size_t *steps, size_t steps_max)
{
    struct hashed *all = mem_alloc((array->count + 1) * sizeof(*all));
    const struct value *twice = NULL;
    size_t n = 0;

    for (const struct value *v = array->first; v != NULL; v = v->next)
        all[n++] = (struct hashed){hash_of(v), v};
    *steps += n + array->raw.n / 16;
    qsort(all, n, sizeof(*all), by_hash);
    for (size_t i = 1; i < n && twice == NULL; i++)
        if (has_equal(all, i, steps, steps_max))
            twice = all[i].v;
    free(all);
    return twice;
}
