#include "worker/tool_field.h"

#include "common/json.h"
#include "tests/lib/test.h"

#include <stdio.h>

static const struct tool_source src = {"tools.json", "/srv", 1, TOOL_COMMAND};

/* Every kind of member, with a value that is wrong and what the sentence must hold. */
static const struct {
    field_fn *read;
    const char *value;
    const char *says;
} wrong[] = {
    {field_text, "7", "7 is no string"},
    {field_object, "[]", "[] is no object"},
    {field_icons, "{}", "{} is no list"},
    {field_output_schema, "[]", "[] is no JSON Schema object"},
    {field_output_schema, "true", "true is no JSON Schema object"},
    {field_output_schema, "{}", "must say \"type\": \"object\""},
    {field_output_schema, "{\"type\":\"string\"}", "must say \"type\": \"object\""},
    {field_output_schema, "{\"type\":\"object\",\"required\":1}", "\"required\" must be a list"},
    {field_input, "{\"type\":\"object\",\"$vocabulary\":{}}", "\"$vocabulary\" is a keyword"},
    {field_time, "30", "30 is no duration; write it in quotes"},
    {field_time, "\"30\"", "\"30\" has no unit"},
    {field_time, "\"5 parsecs\"", "\"5 parsecs\" is no duration"},
    {field_time, "\"1ms\"", "\"1ms\" is out of range; write 1s at least"},
    {field_time, "\"366d\"", "is out of range"},
    {field_attempts, "0", "0 is no number of attempts; write 1 to 100"},
    {field_attempts, "101", "write 1 to 100"},
    {field_attempts, "1.5", "write 1 to 100"},
    {field_attempts, "\"3\"", "write 1 to 100"},
    {field_priority, "\"urgent\"", "\"urgent\" is no priority; write \"high\""},
    {field_priority, "1", "1 is no priority"},
    {field_tasks, "\"maybe\"", "\"maybe\" is none of"},
    {field_tasks, "true", "true is none of"},
    {field_output, "\"xml\"", "\"xml\" is none of \"text\", \"json\" and \"result\""},
    {field_retry_on, "\"exit\"", "is no list; write [\"exit\"]"},
    {field_retry_on, "[\"signal\"]", "\"signal\" is unknown here"},
    {field_command, "\"ls -l\"", "\"ls -l\" is no command; write a list of texts"},
    {field_command, "[]", "it names no program"},
    {field_command, "[\"\"]", "it names no program"},
    {field_command, "[\"a\", 1]", "1 is no command"},
    {field_command, "[\"a\\u0000b\"]", "is no command"},
    {field_env, "\"HOME\"", "is no list of variables"},
    {field_env, "[\"A=b\"]", "lets variables through by name"},
    {field_env, "[\"\"]", "lets variables through by name"},
    {field_cwd, "\"\"", "is no folder"},
    {field_cwd, "5", "5 is no folder"},
    {field_http, "{}", "it has no \"submit\""},
};

static struct field field_of(field_fn *read)
{
    struct field f = {
        .name = "member", .read = read, .min = 1000, .max = 365ULL * 24 * 3600 * 1000};

    f.offset = read == field_time  ? offsetof(struct tool, ttl_ms)
               : read == field_env ? offsetof(struct tool, env)
                                   : offsetof(struct tool, command);
    return f;
}

static bool read_one(struct tool *t, field_fn *read, const char *value, struct buf *why)
{
    struct reading r = {.t = t, .src = &src, .why = why, .into = t};
    struct field f = field_of(read);

    CHECK(json_check(span_of(value), NULL, NULL) == ERR_OK);
    return read(&r, &f, span_of(value));
}

TEST(a_wrong_value_is_one_sentence_with_file_tool_member_value_and_remedy)
{
    char name[] = "x";

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct tool t = {0};
        struct buf why;

        buf_init(&why, 4096);
        CHECK(!read_one(&t, wrong[i].read, wrong[i].value, &why));
        CHECK(strncmp(buf_span(&why).p, "tools.json: tool 1: \"member\": ", 30) == 0);
        CHECK(strchr(buf_span(&why).p, '\n') == NULL);
        CHECK(strstr(buf_span(&why).p, wrong[i].says) != NULL);
        if (strstr(buf_span(&why).p, wrong[i].says) == NULL)
            printf("%s\n    lacks: %s\n", why.p, wrong[i].says);
        tool_fini(&t);
        t.name = name;
        buf_reset(&why);
        CHECK(!read_one(&t, wrong[i].read, wrong[i].value, &why));
        CHECK(strncmp(buf_span(&why).p, "tools.json: tool \"x\": \"member\": ", 32) == 0);
        t.name = NULL;
        tool_fini(&t);
        buf_fini(&why);
    }
}

TEST(right_values_are_taken)
{
    struct tool t = {0};
    struct buf why;

    buf_init(&why, 4096);
    CHECK(read_one(&t, field_text, "\"a\"", &why));
    CHECK(read_one(&t, field_output_schema, "{\"type\":\"object\"}", &why));
    CHECK(read_one(&t, field_time, "\"5m\"", &why) && t.ttl_ms == 300000);
    CHECK(read_one(&t, field_attempts, "7", &why) && t.attempts == 7);
    CHECK(read_one(&t, field_priority, "\"idle\"", &why) && t.priority == TASK_IDLE);
    CHECK(read_one(&t, field_tasks, "\"required\"", &why) && t.tasks == TOOL_REQUIRED);
    CHECK(read_one(&t, field_output, "\"result\"", &why) && t.output == TOOL_RESULT);
    CHECK(read_one(&t, field_retry_on, "[\"exit\"]", &why) && t.retry_exit);
    CHECK(read_one(&t, field_env, "[\"A\",\"B\"]", &why) && t.env.n == 2);
    CHECK(strcmp(t.env.items[1], "B") == 0 && t.env.items[2] == NULL);
    CHECK(why.n == 0);
    buf_fini(&why);
    tool_fini(&t);
}

TEST(paths_are_relative_to_the_folder_of_the_file)
{
    static const struct {
        const char *command;
        const char *program;
    } rows[] = {
        {"[\"./a.sh\", \"./b\"]", "/srv/./a.sh"},
        {"[\"bin/a\"]", "/srv/bin/a"},
        {"[\"/bin/a\"]", "/bin/a"},
        {"[\"python3\"]", "python3"}, /* left to PATH */
    };
    struct buf why;
    struct tool t = {0};

    buf_init(&why, 4096);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tool one = {0};

        CHECK(read_one(&one, field_command, rows[i].command, &why));
        CHECK(strcmp(one.command.items[0], rows[i].program) == 0);
        CHECK(one.command.n == 1 || strcmp(one.command.items[1], "./b") == 0);
        tool_fini(&one);
    }
    CHECK(read_one(&t, field_cwd, "\"work\"", &why) && strcmp(t.cwd, "/srv/work") == 0);
    CHECK(read_one(&t, field_cwd, "\"/tmp\"", &why) && strcmp(t.cwd, "/tmp") == 0);
    tool_fini(&t);
    buf_fini(&why);
}
