#include "common/rds_command.h"

#include "common/mem.h"
#include "tests/lib/test.h"

#include <stdlib.h>

static char *write_all(size_t argc, const struct span *argv, size_t *n)
{
    char *text = mem_alloc(rds_command_size(argc, argv) + 1);
    char *at = rds_command_head(text, argc);

    for (size_t i = 0; i < argc; i++)
        at = rds_command_word(at, argv[i], (struct span){NULL, 0});
    *n = (size_t)(at - text);
    return text;
}

TEST(a_command_is_an_array_of_bulk_strings)
{
    const struct span argv[] = {SPAN("SET"), SPAN("a key"), SPAN("1234567890")};
    size_t n;
    char *text = write_all(3, argv, &n);

    CHECK(
        span_is((struct span){text, n}, "*3\r\n$3\r\nSET\r\n$5\r\na key\r\n$10\r\n1234567890\r\n"));
    CHECK(n == rds_command_size(3, argv));
    free(text);
}

TEST(a_word_may_be_empty_absent_or_hold_any_byte)
{
    const struct span argv[] = {SPAN(""), {NULL, 0}, {"\0\r\n", 3}};
    size_t n;
    char *text = write_all(3, argv, &n);

    CHECK(span_equal((struct span){text, n}, SPAN("*3\r\n$0\r\n\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n")));
    CHECK(n == rds_command_size(3, argv));
    free(text);
}

TEST(a_word_may_come_in_two_parts)
{
    char text[32];
    char *end = rds_command_word(text, SPAN("errand:{0}:"), SPAN("ls"));

    CHECK(span_is((struct span){text, (size_t)(end - text)}, "$13\r\nerrand:{0}:ls\r\n"));
}

TEST(the_size_is_exact_where_a_length_gains_a_digit)
{
    char word[1001] = {0};

    for (size_t n = 0; n <= 1000; n += n < 12 || n > 95 ? 1 : 7) {
        const struct span argv[] = {{word, n}};
        size_t written;
        char *text = write_all(1, argv, &written);

        CHECK(written == rds_command_size(1, argv));
        free(text);
    }
}
