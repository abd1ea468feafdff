#include "common/schema_inside.h"

bool check_ref(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    return node_fits(e, r->node, v, marks);
}

bool check_all(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    for (size_t i = 0; i < r->arg->count; i++)
        if (!node_fits(e, r->nodes[i], v, marks))
            return false;
    return true;
}

bool check_any(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    bool any = false;

    for (size_t i = 0; i < r->arg->count && (!any || marks != NULL); i++)
        any = node_fits(e, r->nodes[i], v, marks) || any;
    return any || eval_fail(e, r, v);
}

bool check_one(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    size_t n = 0;

    for (size_t i = 0; i < r->arg->count; i++)
        n += node_fits(e, r->nodes[i], v, marks);
    if (n == 1)
        return true;
    (void)eval_fail(e, r, v);
    e->fail.n = n;
    return false;
}

bool check_not(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    (void)marks;
    return !node_fits(e, r->node, v, NULL) || eval_fail(e, r, v);
}

static bool apply(struct eval *e, const struct rule *r, const char *name, const struct value *v,
                  unsigned char *marks)
{
    const struct rule *beside = rule_beside(r, name);

    return beside == NULL || node_fits(e, beside->node, v, marks);
}

bool check_if(struct eval *e, const struct rule *r, const struct value *v, unsigned char *marks)
{
    if (node_fits(e, r->node, v, marks))
        return apply(e, r, "then", v, marks);
    return apply(e, r, "else", v, marks);
}
