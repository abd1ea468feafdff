/* Any arguments in the templates of a request: whom it is sent to and how many headers it has are
 * the author's, what is sent as JSON is JSON, and a pointer stays within its text. */
#include "tests/fuzz/fuzz.h"

#include "common/json.h"
#include "worker/pointer.h"
#include "worker/template.h"

#include <string.h>

static struct template_facts facts_of(struct span arguments)
{
    return (struct template_facts){.arguments = arguments,
                                   .job = json_get(arguments, "a"),
                                   .task = "task",
                                   .principal = "p",
                                   .callback_url = "http://e/",
                                   .callback_secret = ""};
}

static void check_url(const struct template_facts *facts)
{
    static const char head[] = "https://u@host:1/x/";
    struct buf out;

    buf_init(&out, 4 << 20);
    if (template_fill(&out, "https://u@host:1/x/{a}/y/{b}?q={arguments}", TEMPLATE_URL, facts) ==
        NULL) {
        FUZZ_CHECK(strncmp(out.p, head, sizeof(head) - 1) == 0);
        FUZZ_CHECK(strlen(out.p) == out.n && strpbrk(out.p, " \r\n#\"\\") == NULL);
        FUZZ_CHECK(strstr(out.p, "/../") == NULL && strstr(out.p, "/./") == NULL);
        FUZZ_CHECK(strchr(out.p, '?') == strrchr(out.p, '?'));
    }
    buf_fini(&out);
}

static void check_header(const struct template_facts *facts)
{
    struct buf out;

    buf_init(&out, 4 << 20);
    if (template_fill(&out, "X: {a} {job} {b}", TEMPLATE_HEADER, facts) == NULL)
        FUZZ_CHECK(strpbrk(out.p, "\r\n") == NULL && strlen(out.p) == out.n);
    buf_fini(&out);
}

static void check_body(const struct template_facts *facts)
{
    struct buf out;

    buf_init(&out, 4 << 20);
    if (template_fill_json(&out,
                           SPAN("{\"a\":\"{a}\",\"b\":[\"{b}\",\"x{a}y\"],\"c\":\"{arguments}\","
                                "\"j\":\"{job}\"}"),
                           facts) == NULL)
        FUZZ_CHECK(json_check_limits(buf_span(&out), 0, 0, NULL, NULL) == ERR_OK);
    buf_fini(&out);
}

static void check_pointer(struct span json)
{
    static const char *const pointers[] = {"", "/a", "/a/0", "/b/~1/x", "/a/b/1", "/"};

    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        struct span at = pointer_at(json, pointers[i]);

        FUZZ_CHECK(at.p == NULL || (at.p >= json.p && at.p + at.n <= json.p + json.n));
    }
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct span json = {(const char *)data, size};
    struct template_facts facts;

    if (json_check(json, NULL, NULL) != ERR_OK)
        return 0;
    check_pointer(json);
    if (json_type(json) != JSON_OBJECT)
        return 0;
    facts = facts_of(json);
    check_url(&facts);
    check_header(&facts);
    check_body(&facts);
    return 0;
}
