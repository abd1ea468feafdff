/* Any bytes from a wrapped server, in pieces of any size, as lines and as a stream of events: what
 * is taken for a message is checked JSON in all its parts, and what is passed on is one line. */
#include "tests/fuzz/fuzz.h"

#include "common/json.h"
#include "worker/upstream/lines.h"
#include "worker/upstream/message.h"
#include "worker/upstream/sse.h"

#include <string.h>

enum { EVENT_MAX = 256 };

static bool is_json(struct span s)
{
    return json_check_limits(s, 0, 0, NULL, NULL) == ERR_OK;
}

static void check_flat(struct span json)
{
    struct buf flat;

    buf_init(&flat, json.n + 1);
    message_add_flat(&flat, json);
    FUZZ_CHECK(buf_ok(&flat) && is_json(buf_span(&flat)));
    FUZZ_CHECK(flat.n == 0 || memchr(flat.p, '\n', flat.n) == NULL);
    buf_fini(&flat);
}

static void check_message(struct span text)
{
    struct message m;
    const char *why = NULL;

    if (!message_read(&m, text, &why)) {
        FUZZ_CHECK(why != NULL);
        return;
    }
    FUZZ_CHECK(m.id.p == NULL || json_is_id(m.id));
    if (m.kind == MESSAGE_RESULT || m.kind == MESSAGE_ERROR) {
        FUZZ_CHECK(json_type(m.value) == JSON_OBJECT);
        check_flat(m.value);
        return;
    }
    FUZZ_CHECK(m.method[0] != '\0' && (m.kind == MESSAGE_NOTICE) == (m.id.p == NULL));
    if (m.params.p != NULL)
        check_flat(m.params);
}

static void on_line(void *arg, struct span text)
{
    (void)arg;
    FUZZ_CHECK(text.n > 0 && memchr(text.p, '\n', text.n) == NULL);
    check_message(text);
}

static void on_long(void *arg, struct span id)
{
    (void)arg;
    (void)id;
    FUZZ_CHECK(false); /* no input is that long */
}

static void on_event(void *arg, struct span data)
{
    (void)arg;
    if (data.p == NULL)
        return; /* it was too long */
    FUZZ_CHECK(data.n > 0 && data.n < EVENT_MAX);
    check_message(data);
}

static void feed(struct lines *lines, struct sse *sse, struct span bytes)
{
    lines_feed(lines, bytes);
    sse_feed(sse, bytes);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    size_t step = size > 0 ? data[0] % 64 + 1U : 1;
    struct lines lines;
    struct sse sse;

    lines_init(&lines, on_line, on_long, NULL);
    sse_init(&sse, EVENT_MAX, on_event, NULL);
    for (size_t at = 0; at < size; at += step)
        feed(&lines, &sse,
             (struct span){(const char *)data + at, size - at < step ? size - at : step});
    feed(&lines, &sse, SPAN("\n\n"));
    lines_fini(&lines);
    sse_fini(&sse);
    return 0;
}
