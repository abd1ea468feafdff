/* tree.h - a small JSON text as a cJSON tree: configuration, tool declarations, schemas.
 *
 * Never for what users send to be passed on: a tree keeps values, not bytes. A text is checked
 * before cJSON sees it, so a tree holds no two members of one name, no U+0000 and nothing that is
 * not JSON. Walk arrays with cJSON_ArrayForEach; look members up here, where case counts.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

#include <stdint.h>

struct cJSON;

/* The caller's to free with tree_free(); NULL unless ERR_OK. Failures are those of json_check(),
 * and ERR_INVALID_REQUEST for U+0000 or two members of one name; *why and *at as there (may be
 * NULL). */
enum err tree_parse(struct cJSON **out, struct span text, const char **why, size_t *at) MUST_USE;
void tree_free(struct cJSON *t);

/* The getters take NULL, or what is no object, as an object without members. */
const struct cJSON *tree_get(const struct cJSON *object, const char *name);
const char *tree_text(const struct cJSON *object, const char *name); /* NULL: absent or no string */
/* false, and *out untouched, when absent or of another type; an integer also when it is a
 * fraction, or outside min..max. Every integer up to 2^53 either way is exact. */
bool tree_bool(const struct cJSON *object, const char *name, bool *out);
bool tree_int(const struct cJSON *object, const char *name, int64_t min, int64_t max, int64_t *out);
