#include "common/cfg_unit.h"

#include <string.h>

/* One of these is mul / div of the number that is kept; the largest of a kind come last. */
static const struct {
    const char *name;
    enum cfg_unit kind;
    uint64_t mul;
    uint64_t div;
} units[] = {
    {"", CFG_UNIT_COUNT, 1, 1},
    {"ms", CFG_UNIT_TIME, 1, 1},
    {"s", CFG_UNIT_TIME, 1000, 1},
    {"m", CFG_UNIT_TIME, UINT64_C(60) * 1000, 1},
    {"h", CFG_UNIT_TIME, UINT64_C(60) * 60 * 1000, 1},
    {"d", CFG_UNIT_TIME, UINT64_C(24) * 60 * 60 * 1000, 1},
    {"", CFG_UNIT_SIZE, 1, 1},
    {"k", CFG_UNIT_SIZE, 1024, 1},
    {"m", CFG_UNIT_SIZE, UINT64_C(1024) * 1024, 1},
    {"g", CFG_UNIT_SIZE, UINT64_C(1024) * 1024 * 1024, 1},
    {"/h", CFG_UNIT_RATE, 1000, UINT64_C(60) * 60},
    {"/m", CFG_UNIT_RATE, 1000, 60},
    {"/s", CFG_UNIT_RATE, 1000, 1},
};

static const struct {
    const char *what;
    const char *hint;
} kinds[] = {
    [CFG_UNIT_COUNT] = {"is no whole number", "write digits only, like 64"},
    [CFG_UNIT_TIME] = {"is no duration",
                       "write a whole number and a unit: 500ms, 10s, 5m, 24h or 7d"},
    [CFG_UNIT_SIZE] = {"is no size",
                       "write a whole number of bytes, or with a unit: 64k, 16m or 1g"},
    [CFG_UNIT_RATE] = {"is no rate", "write a whole number and a period: 5/s, 300/m or 10/h"},
};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

void cfg_add_quoted(struct buf *out, const char *text)
{
    enum { SHOWN_MAX = 64 };
    struct span s = span_of(text);
    bool cut = s.n > SHOWN_MAX;

    s.n = cut ? SHOWN_MAX : s.n;
    while (cut && s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0U) == 0x80U)
        s.n--; /* not inside a character */
    buf_add_json(out, s);
    buf_adds(out, cut ? "..." : "");
}

static bool refuse(enum cfg_unit kind, const char *text, const char *problem, struct buf *why)
{
    cfg_add_quoted(why, text);
    buf_addf(why, " %s; %s", problem, kinds[kind].hint);
    return false;
}

/* The digits at the start; false when there are none or they are too many. */
static bool read_digits(const char **text, uint64_t *out, bool *too_large)
{
    const char *p = *text;
    uint64_t v = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        *too_large = *too_large || v > CFG_NUMBER_MAX;
        v = *too_large ? v : v * 10 + (uint64_t)(*p - '0');
    }
    *out = v;
    *too_large = *too_large || v > CFG_NUMBER_MAX;
    if (p == *text)
        return false;
    *text = p;
    return true;
}

static size_t find_unit(enum cfg_unit kind, const char *name)
{
    size_t i = 0;

    while (i < UNITS && (units[i].kind != kind || strcmp(units[i].name, name) != 0))
        i++;
    return i;
}

bool cfg_number(enum cfg_unit kind, const char *text, uint64_t *out, struct buf *why)
{
    const char *rest = text;
    bool too_large = false;
    uint64_t v;
    size_t i;

    if (text[0] == '\0')
        return refuse(kind, text, "is empty", why);
    if (!read_digits(&rest, &v, &too_large))
        return refuse(kind, text, kinds[kind].what, why);
    if (rest[0] == '\0' && v == 0) {
        *out = 0; /* needs no unit */
        return true;
    }
    i = find_unit(kind, rest);
    if (i == UNITS && rest[0] == '\0')
        return refuse(kind, text, "has no unit", why);
    if (i == UNITS)
        return refuse(kind, text, kinds[kind].what, why);
    if (too_large || v > CFG_NUMBER_MAX / units[i].mul)
        return refuse(kind, text, "is too large", why);
    *out = (v * units[i].mul + units[i].div / 2) / units[i].div;
    if (*out == 0 && v != 0)
        *out = 1;
    return true;
}

bool cfg_time(const char *text, uint64_t *ms, struct buf *why)
{
    return cfg_number(CFG_UNIT_TIME, text, ms, why);
}

bool cfg_size(const char *text, uint64_t *bytes, struct buf *why)
{
    return cfg_number(CFG_UNIT_SIZE, text, bytes, why);
}

bool cfg_rate(const char *text, uint64_t *per_1000s, struct buf *why)
{
    return cfg_number(CFG_UNIT_RATE, text, per_1000s, why);
}

void cfg_add_number(struct buf *out, enum cfg_unit kind, uint64_t v)
{
    for (size_t i = UNITS; v != 0 && i > 0; i--) {
        uint64_t mul = units[i - 1].mul;
        uint64_t scaled = v * units[i - 1].div;

        if (units[i - 1].kind != kind || scaled % mul != 0)
            continue;
        buf_add_u64(out, scaled / mul);
        buf_adds(out, units[i - 1].name);
        return;
    }
    buf_add_u64(out, v);
    buf_adds(out, kind == CFG_UNIT_RATE && v != 0 ? " per 1000 s" : "");
}
