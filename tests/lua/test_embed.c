/* The library in this program is the text of common/lua, byte for byte. */
#include "common/buf.h"
#include "common/lua_library.h"
#include "tests/lib/lua.h"
#include "tests/lib/test.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

static void add_file(struct buf *b, const char *path)
{
    FILE *f = fopen(path, "rb");
    char block[4096];
    size_t n;

    if (f == NULL)
        return;
    while ((n = fread(block, 1, sizeof(block), f)) > 0)
        buf_add(b, block, n);
    (void)fclose(f);
    buf_addc(b, '\n');
}

/* In the order of their bytes, whatever the locale. */
static void join(struct buf *b, const glob_t *g)
{
    add_file(b, g->gl_pathv[0]);
    for (size_t i = 1; i < g->gl_pathc; i++) {
        CHECK(strcmp(g->gl_pathv[i - 1], g->gl_pathv[i]) < 0);
        add_file(b, g->gl_pathv[i]);
    }
}

static void fill_in_version(struct buf *out, const struct buf *text)
{
    static const char mark[] = "@VERSION@";
    const char *p = text->p;
    const char *at;

    for (; (at = strstr(p, mark)) != NULL; p = at + sizeof(mark) - 1) {
        buf_add(out, p, (size_t)(at - p));
        buf_adds(out, lua_library_version);
    }
    buf_adds(out, p);
}

TEST(the_library_is_the_sources_byte_for_byte)
{
    glob_t g;
    struct buf text;
    struct buf want;

    REQUIRE(glob(ERRAND_SOURCE "/common/lua/*.lua", GLOB_NOSORT, NULL, &g) == 0);
    globfree(&g);
    REQUIRE(glob(ERRAND_SOURCE "/common/lua/*.lua", 0, NULL, &g) == 0);
    REQUIRE(strstr(g.gl_pathv[0], "/_lib.lua") != NULL);
    buf_init(&text, 1 << 20);
    buf_init(&want, 1 << 20);
    join(&text, &g);
    globfree(&g);
    buf_addf(&want, "#!lua name=errand_%s\n", lua_library_version);
    fill_in_version(&want, &text);
    CHECK(want.n == lua_library_len);
    CHECK(want.n == lua_library_len && memcmp(want.p, lua_library, want.n) == 0);
    CHECK(strlen(lua_library) == lua_library_len);
    CHECK(strlen(lua_library_version) == 8);
    buf_fini(&text);
    buf_fini(&want);
}

/* Every file without an underscore is one function of its name, and there are no others. */
TEST(every_file_registers_its_function)
{
    struct lua *l = lua_fresh();
    glob_t g;
    size_t functions = 0;

    REQUIRE(glob(ERRAND_SOURCE "/common/lua/[a-z]*.lua", 0, NULL, &g) == 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        char name[64];
        const char *base = strrchr(g.gl_pathv[i], '/') + 1;

        (void)snprintf(name, sizeof(name), "define('%.*s', ", (int)(strlen(base) - 4), base);
        CHECK(strstr(lua_library, name) != NULL);
    }
    functions = g.gl_pathc;
    globfree(&g);
    REQUIRE(lua_redis(l, "FUNCTION LIST"));
    CHECK(lua_count(l, "") == 1);
    CHECK(lua_count(l, "0.5") == functions);
}

TEST(two_versions_live_side_by_side)
{
    struct lua *l = lua_fresh();

    REQUIRE(lua_redis(l, "FUNCTION LOAD %s",
                      "#!lua name=errand_00000000\n"
                      "redis.register_function('errand_00000000_create', "
                      "function() return 'old' end)"));
    REQUIRE(lua_redis(l, "FCALL errand_00000000_create 0"));
    CHECK(lua_is(l, "", "old"));
    REQUIRE(lua_do(l, "throttle", "rl:o : o|0|1"));
    CHECK(lua_is(l, "0", "OK"));
    REQUIRE(lua_redis(l, "FUNCTION DELETE errand_00000000"));
}
