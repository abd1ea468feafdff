#include "common/schema_inside.h"

static bool fail_missing(struct eval *e, const struct rule *r, const struct value *v,
                         const struct value *name)
{
    (void)eval_fail(e, r, v);
    e->fail.name = name;
    return false;
}

static bool has_all(struct eval *e, const struct rule *r, const struct value *names,
                    const struct value *v)
{
    for (const struct value *n = names->first; n != NULL; n = n->next) {
        e->steps++;
        if (value_get(v, n->text) == NULL)
            return fail_missing(e, r, v, n);
    }
    return true;
}

bool check_required(struct eval *e, const struct rule *r, const struct value *v,
                    unsigned char *marks)
{
    (void)marks;
    return has_all(e, r, r->arg, v);
}

bool check_min_members(struct eval *e, const struct rule *r, const struct value *v,
                       unsigned char *marks)
{
    (void)marks;
    return (double)v->count >= r->arg->number || eval_fail(e, r, v);
}

bool check_max_members(struct eval *e, const struct rule *r, const struct value *v,
                       unsigned char *marks)
{
    (void)marks;
    return (double)v->count <= r->arg->number || eval_fail(e, r, v);
}

bool check_dependent_required(struct eval *e, const struct rule *r, const struct value *v,
                              unsigned char *marks)
{
    (void)marks;
    for (const struct value *d = r->arg->first; d != NULL; d = d->next) {
        e->steps++;
        if (value_get(v, d->name) != NULL && !has_all(e, r, d, v))
            return false;
    }
    return true;
}

/* dependentSchemas, and dependencies, which may be lists of names as well. */
bool check_dependent(struct eval *e, const struct rule *r, const struct value *v,
                     unsigned char *marks)
{
    for (const struct value *d = r->arg->first; d != NULL; d = d->next) {
        const struct node *n = r->nodes[d->place];

        e->steps++;
        if (value_get(v, d->name) == NULL)
            continue;
        if (n == NULL ? !has_all(e, r, d, v) : !node_fits(e, n, v, marks))
            return false;
    }
    return true;
}

static void mark(unsigned char *marks, const struct value *child)
{
    if (marks != NULL)
        marks[child->place] = 1;
}

bool check_properties(struct eval *e, const struct rule *r, const struct value *v,
                      unsigned char *marks)
{
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        const struct value *p = value_get(r->arg, c->name);

        e->steps++;
        if (p == NULL)
            continue;
        if (!node_fits(e, r->nodes[p->place], c, NULL))
            return false;
        mark(marks, c);
    }
    return true;
}

static bool matches(struct eval *e, const struct pattern *p, struct span name)
{
    enum matched m = pattern_match(p, name, &e->match_us);

    e->steps += 1 + name.n / 16;
    if (m == MATCH_LIMIT)
        return eval_stop(e, "a pattern takes too long");
    return m == MATCH_YES;
}

bool check_patterns(struct eval *e, const struct rule *r, const struct value *v,
                    unsigned char *marks)
{
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        for (size_t i = 0; i < r->arg->count; i++) {
            if (!matches(e, r->patterns[i], c->name))
                continue;
            if (!node_fits(e, r->nodes[i], c, NULL))
                return false;
            mark(marks, c);
        }
        if (e->stop != NULL)
            return false;
    }
    return true;
}

static bool is_additional(struct eval *e, const struct rule *known, const struct rule *patterns,
                          const struct value *c)
{
    if (known != NULL && value_get(known->arg, c->name) != NULL)
        return false;
    for (size_t i = 0; patterns != NULL && i < patterns->arg->count; i++)
        if (matches(e, patterns->patterns[i], c->name))
            return false;
    return true;
}

bool check_additional(struct eval *e, const struct rule *r, const struct value *v,
                      unsigned char *marks)
{
    const struct rule *known = rule_beside(r, "properties");
    const struct rule *patterns = rule_beside(r, "patternProperties");

    for (const struct value *c = v->first; c != NULL; c = c->next) {
        e->steps++;
        if (!is_additional(e, known, patterns, c))
            continue;
        if (r->node->is_false)
            return eval_fail(e, r, c);
        if (!node_fits(e, r->node, c, NULL))
            return false;
        mark(marks, c);
    }
    return true;
}

bool check_names(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        struct value *name = arena_get(&e->arena, sizeof(*name));

        *name = (struct value){.type = JSON_STRING,
                               .text = c->name,
                               .raw = c->name,
                               .name = c->name,
                               .up = c->up,
                               .is_name = true};
        if (!node_fits(e, r->node, name, NULL))
            return false;
    }
    return true;
}

bool check_unevaluated_members(struct eval *e, const struct rule *r, const struct value *v,
                               unsigned char *marks)
{
    for (const struct value *c = v->first; c != NULL; c = c->next) {
        if (marks == NULL || marks[c->place] != 0)
            continue;
        if (r->node->is_false)
            return eval_fail(e, r, c);
        if (!node_fits(e, r->node, c, NULL))
            return false;
        marks[c->place] = 1;
    }
    return true;
}
