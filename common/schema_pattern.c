#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/schema_inside.h"

#include "common/clock.h"
#include "common/mem.h"

#include <pcre2.h>
#include <stdlib.h>

/* The limits of PCRE2 hold for each place where a match may begin. So a text is gone through a
 * window of places at a time, with a look at the clock between them. */
enum {
    LENGTH_MAX = 8192, /* of a pattern */
    WINDOW = 64,
    CALLS_MAX = 20000,
    CALLS_ANCHORED_MAX = 1000000,
    HEAP_MAX_KIB = 32 << 10,
};

struct pattern {
    struct pattern *next;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    bool is_anchored;
};

static pcre2_code *compile(struct span text, int *error)
{
    const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
                             PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_USE_OFFSET_LIMIT;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;
    size_t at;

    if (context == NULL)
        abort();
    (void)pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    (void)pcre2_set_max_pattern_length(context, LENGTH_MAX);
    code = pcre2_compile((PCRE2_SPTR)text.p, text.n, options, error, &at, context);
    pcre2_compile_context_free(context);
    return code;
}

struct pattern *pattern_new(struct pattern *next, struct span text, struct buf *why)
{
    struct pattern *p;
    uint32_t options = 0;
    int error = 0;
    pcre2_code *code = compile(text, &error);

    if (code == NULL) {
        char said[128] = "";

        (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)said, sizeof(said));
        buf_adds(why, "is no regular expression that is understood here: ");
        buf_add_json(why, (struct span){text.p, text.n < 60 ? text.n : 60});
        buf_addf(why, " (%s)", said);
        return NULL;
    }
    p = mem_zalloc(sizeof(*p));
    p->next = next;
    p->code = code;
    p->data = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (p->data == NULL || p->context == NULL)
        abort();
    (void)pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
    p->is_anchored = (options & PCRE2_ANCHORED) != 0;
    (void)pcre2_set_match_limit(p->context, p->is_anchored ? CALLS_ANCHORED_MAX : CALLS_MAX);
    (void)pcre2_set_depth_limit(p->context, p->is_anchored ? CALLS_ANCHORED_MAX : CALLS_MAX);
    (void)pcre2_set_heap_limit(p->context, HEAP_MAX_KIB);
    return p;
}

void pattern_free_all(struct pattern *p)
{
    while (p != NULL) {
        struct pattern *next = p->next;

        pcre2_match_context_free(p->context);
        pcre2_match_data_free(p->data);
        pcre2_code_free(p->code);
        free(p);
        p = next;
    }
}

/* The first character that begins at or after at. */
static size_t next_start(struct span text, size_t at)
{
    while (at < text.n && ((unsigned char)text.p[at] & 0xc0U) == 0x80U)
        at++;
    return at;
}

static enum matched match_window(const struct pattern *p, struct span text, size_t from, size_t to)
{
    int n;

    (void)pcre2_set_offset_limit(p->context, to);
    n = pcre2_match(p->code, (PCRE2_SPTR)text.p, text.n, from, PCRE2_NO_UTF_CHECK, p->data,
                    p->context);
    if (n >= 0)
        return MATCH_YES;
    return n == PCRE2_ERROR_NOMATCH ? MATCH_NO : MATCH_LIMIT;
}

enum matched pattern_match(const struct pattern *p, struct span text, int64_t *us)
{
    const uint64_t start = clock_cpu_us();
    const uint64_t left = *us > 0 ? (uint64_t)*us : 0;
    enum matched m = MATCH_NO;
    size_t from = 0;

    for (;;) {
        size_t to = p->is_anchored ? text.n : from + WINDOW;

        if (clock_cpu_us() - start >= left)
            m = MATCH_LIMIT;
        else
            m = match_window(p, text, from, to < text.n ? to : text.n);
        if (m != MATCH_NO || to >= text.n)
            break;
        from = next_start(text, to + 1);
        if (from > text.n)
            break;
    }
    *us -= (int64_t)(clock_cpu_us() - start);
    return m;
}
