#include "common/tree.h"

#include "common/json.h"
#include "common/mem.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

static enum err refuse(const char **why, const char *reason, size_t *at, size_t where)
{
    if (why != NULL)
        *why = reason;
    if (at != NULL)
        *at = where;
    return ERR_INVALID_REQUEST;
}

/* cJSON would end the string there. In checked JSON a backslash starts an escape. */
static bool find_nul(struct span text, size_t *where)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\\')
            continue;
        if (text.n - i >= 6 && memcmp(text.p + i + 1, "u0000", 5) == 0) {
            *where = i;
            return true;
        }
        i++;
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_repeat(const cJSON *object)
{
    const cJSON *it;
    size_t n = 0;
    bool repeat = false;
    const char **names = mem_alloc(sizeof(*names) * (size_t)cJSON_GetArraySize(object));

    cJSON_ArrayForEach(it, object) names[n++] = it->string;
    qsort(names, n, sizeof(*names), compare_names);
    for (size_t i = 1; i < n && !repeat; i++)
        repeat = strcmp(names[i - 1], names[i]) == 0;
    free(names);
    return repeat;
}

/* As deep as json_check() lets a text be, no more. */
static bool any_repeats(const cJSON *t) /* NOLINT(misc-no-recursion) */
{
    const cJSON *it;

    if (cJSON_IsObject(t) && names_repeat(t))
        return true;
    cJSON_ArrayForEach(it, t)
    {
        if (any_repeats(it))
            return true;
    }
    return false;
}

enum err tree_parse(struct cJSON **out, struct span text, const char **why, size_t *at)
{
    enum err e = json_check(text, why, at);
    size_t where = 0;
    cJSON *t;

    *out = NULL;
    if (e != ERR_OK)
        return e;
    if (find_nul(text, &where))
        return refuse(why, "a string holds \\u0000", at, where);
    t = cJSON_ParseWithLength(text.p, text.n);
    if (t == NULL) /* all else was checked: cJSON 1.7.15 reads 63 characters of a number */
        return refuse(why, "a number is too long", at, 0);
    if (any_repeats(t)) {
        cJSON_Delete(t);
        return refuse(why, "an object has two members of one name", at, 0);
    }
    *out = t;
    return ERR_OK;
}

void tree_free(struct cJSON *t)
{
    cJSON_Delete(t);
}

const struct cJSON *tree_get(const struct cJSON *object, const char *name)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

const char *tree_text(const struct cJSON *object, const char *name)
{
    return cJSON_GetStringValue(tree_get(object, name));
}

bool tree_bool(const struct cJSON *object, const char *name, bool *out)
{
    const cJSON *v = tree_get(object, name);

    if (!cJSON_IsBool(v))
        return false;
    *out = cJSON_IsTrue(v);
    return true;
}

/* Not valueint: it stops at INT_MAX. */
bool tree_int(const struct cJSON *object, const char *name, int64_t min, int64_t max, int64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53 */
    const cJSON *v = tree_get(object, name);
    int64_t whole;

    if (!cJSON_IsNumber(v) || !(v->valuedouble >= -exact && v->valuedouble <= exact) ||
        fpclassify(v->valuedouble - trunc(v->valuedouble)) != FP_ZERO)
        return false;
    whole = (int64_t)v->valuedouble;
    if (whole < min || whole > max)
        return false;
    *out = whole;
    return true;
}
