#include "common/rds_command.h"

/* What it takes to say a number in decimal. */
static size_t digits(size_t v)
{
    size_t n = 1;

    for (; v >= 10; v /= 10)
        n++;
    return n;
}

/* A letter, a number and the end of the line. */
static char *put_head(char *at, char letter, size_t v)
{
    char *end = at + 1 + digits(v);

    *at = letter;
    end[0] = '\r';
    end[1] = '\n';
    at = end;
    do {
        *--at = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    return end + 2;
}

size_t rds_command_size(size_t argc, const struct span *argv)
{
    size_t n = digits(argc) + 3;

    for (size_t i = 0; i < argc; i++)
        n += digits(argv[i].n) + 3 + argv[i].n + 2;
    return n;
}

char *rds_command_head(char *at, size_t argc)
{
    return put_head(at, '*', argc);
}

char *rds_command_word(char *at, struct span head, struct span tail)
{
    at = put_head(at, '$', head.n + tail.n);
    if (head.n > 0)
        memcpy(at, head.p, head.n);
    if (tail.n > 0)
        memcpy(at + head.n, tail.p, tail.n);
    at += head.n + tail.n;
    *at++ = '\r';
    *at++ = '\n';
    return at;
}
