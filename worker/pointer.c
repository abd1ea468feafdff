#include "worker/pointer.h"

#include "common/json.h"

enum { NAME_ROOM = 1024, DIGITS_MAX = 9 };

bool pointer_is_one(const char *text)
{
    if (text[0] != '\0' && text[0] != '/')
        return false;
    for (const char *p = text; *p != '\0'; p++)
        if (*p == '~' && p[1] != '0' && p[1] != '1')
            return false;
    return strlen(text) < NAME_ROOM;
}

/* One part, with ~1 and ~0 decoded. */
static void decode(char *out, const char *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = part[i];

        if (c == '~')
            c = part[++i] == '1' ? '/' : '~';
        *out++ = c;
    }
    *out = '\0';
}

static struct span element(struct span array, const char *name)
{
    size_t digits = strspn(name, "0123456789");
    size_t index = 0;
    size_t cursor = 0;
    struct span unnamed;
    struct span item;

    if (digits == 0 || digits > DIGITS_MAX || name[digits] != '\0' ||
        (name[0] == '0' && digits > 1))
        return (struct span){NULL, 0};
    for (size_t i = 0; i < digits; i++)
        index = index * 10 + (size_t)(name[i] - '0');
    while (json_next(array, &cursor, &unnamed, &item))
        if (index-- == 0)
            return item;
    return (struct span){NULL, 0};
}

struct span pointer_at(struct span json, const char *pointer)
{
    char name[NAME_ROOM] = "";

    while (json.p != NULL && *pointer == '/') {
        size_t n = strcspn(pointer + 1, "/");

        decode(name, pointer + 1, n);
        if (json_type(json) == JSON_OBJECT)
            json = json_get(json, name);
        else if (json_type(json) == JSON_ARRAY)
            json = element(json, name);
        else
            json = (struct span){NULL, 0};
        pointer += n + 1;
    }
    return json;
}
