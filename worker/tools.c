#include "worker/tools.h"

#include "common/id.h"
#include "common/json.h"
#include "common/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 4 << 20, FILE_NODES_MAX = 1000000, SERVERS_MAX = 100 };

/* --- a file's text --- */

static bool read_all(struct buf *out, const char *path)
{
    char room[16384];
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd == -1)
        return false;
    while ((n = read(fd, room, sizeof(room))) > 0 && buf_ok(out))
        buf_add(out, room, (size_t)n);
    (void)close(fd);
    return n == 0 || !buf_ok(out);
}

static bool refuse(struct buf *why, const char *path, const char *what)
{
    buf_addf(why, "%s: %s", path, what);
    return false;
}

static bool read_file(struct buf *out, const char *path, struct buf *why)
{
    if (!read_all(out, path)) {
        buf_addf(why, "%s: cannot be read: %s; give the path of a tools.json", path,
                 strerror(errno));
        return false;
    }
    if (!buf_ok(out))
        return refuse(why, path, "it is larger than 4m; split it and repeat --tools");
    return true;
}

static bool check_syntax(struct span text, const char *path, struct buf *why)
{
    const char *what;
    size_t at = 0;
    size_t line = 1;
    size_t column = 1;

    if (json_check_limits(text, JSON_DEPTH_MAX, FILE_NODES_MAX, &what, &at) == ERR_OK)
        return true;
    for (size_t i = 0; i < at && i < text.n; i++) {
        column = text.p[i] == '\n' ? 1 : column + 1;
        line += text.p[i] == '\n';
    }
    buf_addf(why, "%s: line %zu, column %zu: %s; write JSON: {\"tools\": [...]}", path, line,
             column, what);
    return false;
}

/* --- its tools --- */

static bool add(struct tools *all, const struct tool_source *src, struct span object,
                struct buf *why)
{
    struct tool t;

    if (!tool_read(&t, src, object, why))
        return false;
    if (tools_find(all, span_of(t.name)) != NULL || all->n == TOOLS_MAX) {
        buf_addf(why, "%s: tool \"%s\": %s", src->where, t.name,
                 all->n == TOOLS_MAX ? "there are more than 500 tools"
                                     : "there is another tool of that name; rename one of them");
        tool_fini(&t);
        return false;
    }
    all->v = mem_grow(all->v, (all->n + 1) * sizeof(*all->v));
    all->v[all->n++] = tool_share(&t);
    return true;
}

void tools_add(struct tools *all, struct tool *t)
{
    all->v = mem_grow(all->v, (all->n + 1) * sizeof(*all->v));
    all->v[all->n++] = tool_hold(t);
}

/* --- its servers --- */

static const struct tool_server *find_server(const struct tools *all, struct span name)
{
    for (size_t i = 0; i < all->server_n; i++)
        if (span_is(name, all->servers[i]->name))
            return all->servers[i];
    return NULL;
}

static void keep_server(struct tools *all, struct tool_server *s)
{
    all->servers = mem_grow(all->servers, (all->server_n + 1) * sizeof(struct tool_server *));
    all->servers[all->server_n++] = s;
}

static bool add_server(struct tools *all, const struct tool_source *src, struct span name,
                       struct span object, struct buf *why)
{
    struct tool_server *s = NULL;

    if (all->server_n == SERVERS_MAX)
        buf_addf(why, "%s: \"mcpServers\": there are more than 100 servers", src->where);
    else if (find_server(all, name) != NULL)
        buf_addf(why,
                 "%s: server \"%.*s\": there is another server of that name; rename one of "
                 "them",
                 src->where, (int)(name.n < SERVER_NAME_MAX ? name.n : SERVER_NAME_MAX), name.p);
    else
        s = tool_server_read(name, object, src, why);
    if (s == NULL)
        return false;
    keep_server(all, s);
    return true;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *named = slash == NULL ? mem_strdup(".") : mem_dup(path, (size_t)(slash - path) + 1);
    char *real = realpath(named, NULL);

    if (real == NULL)
        return named;
    free(named);
    return real;
}

static bool add_servers(struct tools *all, const struct tool_source *src, struct span servers,
                        struct buf *why)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(servers) != JSON_OBJECT)
        return refuse(why, src->where,
                      "\"mcpServers\" is no object; write {\"name\": {\"command\": \"...\"}}");
    while (json_next(servers, &cursor, &name, &item))
        if (!add_server(all, src, name, item, why))
            return false;
    return true;
}

static bool add_list(struct tools *all, struct tool_source *src, struct span list, struct buf *why)
{
    size_t cursor = 0;
    struct span name;
    struct span item;

    if (json_type(list) != JSON_ARRAY)
        return refuse(why, src->where, "\"tools\" is no list; write {\"tools\": [...]}");
    for (src->index = 1; json_next(list, &cursor, &name, &item); src->index++)
        if (!add(all, src, item, why))
            return false;
    return true;
}

static bool add_both(struct tools *all, struct tool_source *src, const struct json_want *want,
                     struct buf *why)
{
    if (want[0].value.p == NULL && want[1].value.p == NULL)
        return refuse(why, src->where, "it has no tools; write {\"tools\": [...]}");
    return (want[0].value.p == NULL || add_list(all, src, want[0].value, why)) &&
           (want[1].value.p == NULL || add_servers(all, src, want[1].value, why));
}

static bool check_top(struct span text, const char *path, struct buf *why)
{
    size_t cursor = 0;
    struct span name;
    struct span value;

    if (json_type(text) != JSON_OBJECT)
        return refuse(why, path, "it holds no object; write {\"tools\": [...]}");
    while (json_next(text, &cursor, &name, &value)) {
        if (span_is(name, "tools") || span_is(name, "mcpServers"))
            continue;
        buf_addf(why, "%s: \"%.*s\" is unknown; there are \"tools\" and \"mcpServers\"", path,
                 (int)(name.n < 64 ? name.n : 64), name.p);
        return false;
    }
    return true;
}

bool tools_add_file(struct tools *all, const char *path, struct buf *why)
{
    struct tool_source src = {.where = path, .run = TOOL_COMMAND};
    struct json_want want[] = {{.name = "tools"}, {.name = "mcpServers"}};
    struct buf file;
    struct span text;
    char *dir = folder_of(path);
    bool ok = false;

    src.dir = dir;
    buf_init(&file, FILE_MAX);
    if (!read_file(&file, path, why))
        goto out;
    text = buf_span(&file);
    if (!check_syntax(text, path, why) || !check_top(text, path, why))
        goto out;
    if (json_get_many(text, want, 2) != ERR_OK)
        ok = refuse(why, path, "\"tools\" or \"mcpServers\" is there twice; join them");
    else
        ok = add_both(all, &src, want, why);
out:
    buf_fini(&file);
    free(dir);
    return ok;
}

bool tools_add_files(struct tools *all, const char *const *paths, size_t count, struct buf *why)
{
    for (size_t i = 0; i < count; i++)
        if (!tools_add_file(all, paths[i], why))
            return false;
    if (all->n + all->server_n > 0)
        return true;
    for (size_t i = 0; i < count; i++)
        buf_addf(why, "%s%s", i > 0 ? ", " : "", paths[i]);
    buf_adds(why, ": there is no tool to serve; declare one in \"tools\"");
    return false;
}

bool tools_add_text(struct tools *all, const char *declaration, const void *handler,
                    struct buf *why)
{
    const struct tool_source src = {
        .where = "declaration", .dir = ".", .index = all->n + 1, .run = TOOL_HANDLER};
    struct span text = span_of(declaration);

    if (!check_syntax(text, src.where, why) || !add(all, &src, text, why))
        return false;
    all->v[all->n - 1]->handler = handler;
    return true;
}

void tools_join(struct tools *all, const struct tools *from)
{
    for (size_t i = 0; i < from->n; i++)
        tools_add(all, from->v[i]);
    for (size_t i = 0; i < from->server_n; i++)
        keep_server(all, tool_server_hold(from->servers[i]));
}

void tools_fini(struct tools *all)
{
    for (size_t i = 0; i < all->n; i++)
        tool_let_go(all->v[i]);
    for (size_t i = 0; i < all->server_n; i++)
        tool_server_let_go(all->servers[i]);
    free(all->v);
    free(all->servers);
    *all = (struct tools){0};
}

struct tool *tools_find(const struct tools *all, struct span name)
{
    for (size_t i = 0; i < all->n; i++)
        if (span_is(name, all->v[i]->name))
            return all->v[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;

    return strcmp(x->p, y->p);
}

void tools_digest(const struct tools *all, char out[static 23])
{
    struct span *names = mem_alloc((all->n + 1) * sizeof(*names));

    for (size_t i = 0; i < all->n; i++)
        names[i] = span_of(all->v[i]->name);
    qsort(names, all->n, sizeof(*names), by_name);
    id_digest(out, names, all->n);
    free(names);
}
