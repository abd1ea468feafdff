/* Any Last-Event-ID: what is taken for one of ours has our form and lies within the text, and what
 * we send is taken. */
#include "tests/fuzz/fuzz.h"

#include "broker/l/last_event.h"
#include "common/mem.h"

#include <string.h>

static void check_taken(const char *text, const char *stream, struct span entry)
{
    size_t n = strlen(text);

    FUZZ_CHECK(strlen(stream) == STREAM_ID_LEN && strncmp(text, stream, STREAM_ID_LEN) == 0);
    FUZZ_CHECK(entry.n > 0 && entry.p == text + STREAM_ID_LEN + 1 && entry.p + entry.n == text + n);
    for (size_t i = 0; i < entry.n; i++)
        FUZZ_CHECK(span_is(entry, "end") || strchr("-0123456789", entry.p[i]) != NULL);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *text = mem_alloc(size + STREAM_ID_LEN + 64);
    char stream[STREAM_ID_LEN + 1];
    struct span entry;

    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0'; /* a header's value ends at a NUL */
    if (last_event_parse(text, stream, &entry))
        check_taken(text, stream, entry);
    if (strlen(text) >= STREAM_ID_LEN) {
        (void)snprintf(text + STREAM_ID_LEN, 64, ".%zu-%zu", size, size % 7);
        FUZZ_CHECK(last_event_parse(text, stream, &entry));
        check_taken(text, stream, entry);
    }
    free(text);
    return 0;
}
