/* Any bytes on a command's descriptor 3, in pieces of any size: what the worker is told is checked
 * JSON, what may be asked is checked too, and what is answered is one message a line. */
#include "tests/fuzz/fuzz.h"

#include "common/json.h"
#include "worker/ask_answer.h"
#include "worker/ask_check.h"
#include "worker/run/wire.h"

#include <string.h>

static const char caps[] = "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"
                           "\"roots\":{}}";
static struct wire *wire;

static bool is_json(struct span s)
{
    return json_check_limits(s, 0, 0, NULL, NULL) == ERR_OK &&
           (s.n == 0 || memchr(s.p, '\n', s.n) == NULL);
}

static void on_said(struct run_job *job, struct span message, struct span progress)
{
    (void)job;
    (void)message;
    FUZZ_CHECK(is_json(progress));
    FUZZ_CHECK(json_type(json_get(progress, "progress")) == JSON_NUMBER);
}

static void on_logged(struct run_job *job, struct span level, struct span logger, struct span data)
{
    (void)job;
    FUZZ_CHECK(level.n > 0 && is_json(data) && (logger.p == NULL || is_json(logger)));
}

static void on_asked(struct run_job *job, struct span id, struct span method, struct span params)
{
    struct buf why;
    struct buf sent;

    (void)job;
    FUZZ_CHECK(json_is_id(id));
    buf_init(&why, 4096);
    buf_init(&sent, 4 << 20);
    if (ask_check(SPAN(caps), method, params, &why) == 0) {
        ask_params(&sent, params, "the-task", 1000);
        FUZZ_CHECK(buf_ok(&sent) && is_json(buf_span(&sent)));
        (void)ask_check_answer("elicitation/create", buf_span(&sent),
                               SPAN("{\"result\":{\"action\":\"accept\",\"content\":{\"a\":1}}}"),
                               &why);
    } else {
        FUZZ_CHECK(why.n > 0 || !buf_ok(&why));
    }
    wire_answer(wire, id, SPAN("{\"result\":{}}"));
    buf_fini(&why);
    buf_fini(&sent);
}

static void on_withdrew(struct run_job *job, struct span id)
{
    (void)job;
    FUZZ_CHECK(json_is_id(id));
}

static void check_told(struct span told)
{
    while (told.n > 0) {
        const char *end = memchr(told.p, '\n', told.n);
        size_t n;

        FUZZ_CHECK(end != NULL);
        n = (size_t)(end - told.p);
        FUZZ_CHECK(is_json((struct span){told.p, n}));
        told = (struct span){end + 1, told.n - n - 1};
    }
}

int fuzz_one(const uint8_t *data, size_t size)
{
    static const struct run_sink sink = {
        .said = on_said, .logged = on_logged, .asked = on_asked, .withdrew = on_withdrew};
    size_t step = size > 0 ? data[0] % 64 + 1U : 1;
    struct wire w;

    wire = &w;
    wire_init(&w, &sink, NULL);
    for (size_t at = 0; at < size; at += step)
        wire_feed(&w, (const char *)data + at, size - at < step ? size - at : step);
    wire_feed(&w, "\n", 1);
    check_told(wire_unread(&w));
    wire_fini(&w);
    return 0;
}
