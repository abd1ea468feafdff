#include "common/json.h"
#include "common/json_raw.h"
#include "common/mem.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* sign digits . digits E exponent, as the digits without their point: digits * 10^shift. */
struct number {
    bool negative;
    struct span whole;
    struct span fraction;
    int64_t shift;
};

static struct span take_digits(const char **p, const char *end)
{
    const char *start = *p;

    while (*p < end && **p >= '0' && **p <= '9')
        (*p)++;
    return (struct span){start, (size_t)(*p - start)};
}

static int64_t take_exponent(const char **p, const char *end)
{
    const int64_t huge = INT64_C(1) << 50; /* more than any text has digits */
    bool negative = false;
    struct span digits;
    int64_t v = 0;

    if (*p < end && (**p == '+' || **p == '-'))
        negative = *(*p)++ == '-';
    digits = take_digits(p, end);
    for (size_t i = 0; i < digits.n && v < huge; i++)
        v = v * 10 + (digits.p[i] - '0');
    return negative ? -v : v;
}

static bool split_number(struct span value, struct number *out)
{
    struct span s = json_trim(value);
    const char *p = s.p;
    const char *end;

    *out = (struct number){0};
    if (s.n == 0)
        return false;
    end = p + s.n;
    if (p < end && *p == '-') {
        out->negative = true;
        p++;
    }
    out->whole = take_digits(&p, end);
    if (p < end && *p == '.') {
        p++;
        out->fraction = take_digits(&p, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        out->shift = take_exponent(&p, end);
    }
    out->shift -= (int64_t)out->fraction.n;
    return out->whole.n != 0 && p == end;
}

static unsigned digit_at(const struct number *n, size_t i)
{
    const char *p = i < n->whole.n ? n->whole.p + i : n->fraction.p + (i - n->whole.n);

    return (unsigned)(*p - '0');
}

static bool push_digit(uint64_t *v, unsigned digit)
{
    if (*v > (UINT64_MAX - digit) / 10U)
        return false;
    *v = *v * 10U + digit;
    return true;
}

/* The number without its sign, exactly. */
static bool magnitude(const struct number *n, uint64_t *out)
{
    size_t digits = n->whole.n + n->fraction.n;
    int64_t shift = n->shift;

    *out = 0;
    while (digits != 0 && digit_at(n, digits - 1) == 0) {
        digits--;
        shift++;
    }
    if (digits == 0)
        return true;
    if (shift < 0)
        return false;
    for (size_t i = 0; i < digits; i++)
        if (!push_digit(out, digit_at(n, i)))
            return false;
    for (; shift > 0; shift--)
        if (!push_digit(out, 0))
            return false;
    return true;
}

bool json_int(struct span value, int64_t *out)
{
    struct number n;
    uint64_t v;

    if (!split_number(value, &n) || !magnitude(&n, &v) ||
        v > (uint64_t)INT64_MAX + (n.negative ? 1U : 0U))
        return false;
    *out = n.negative && v != 0 ? -(int64_t)(v - 1U) - 1 : (int64_t)v;
    return true;
}

bool json_number(struct span value, double *out)
{
    static locale_t plain; /* a program that links us may have set another decimal point */
    struct number n;
    char *text;
    double v;

    if (!split_number(value, &n))
        return false;
    if (plain == (locale_t)0)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    value = json_trim(value);
    text = mem_dup(value.p, value.n);
    v = strtod_l(text, NULL, plain);
    free(text);
    if (!isfinite(v))
        return false;
    *out = v;
    return true;
}

bool json_is_integer_form(struct span value)
{
    struct number n;

    value = json_trim(value);
    return split_number(value, &n) && n.whole.n + (n.negative ? 1U : 0U) == value.n;
}
