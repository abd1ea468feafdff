#include "tests/lib/talk.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

static const char *text(const char *given)
{
    return given != NULL ? given : "";
}

bool move_log(struct lua *l, const char *id, unsigned fence, const char *level, const char *data)
{
    return lua_do(l, "log", "t:%s : %s|%u|%s||%s", id, id, fence, level, data);
}

bool move_hook(struct lua *l, const char *id, const char *body)
{
    return lua_do(l, "hook", "t:%s : %s|%s", id, id, body);
}

bool move_heard(struct lua *l, const char *id, unsigned fence, unsigned forget)
{
    return lua_do(l, "heard", "t:%s : %s|%u|%u", id, id, fence, forget);
}

bool move_abandoned(struct lua *l, const char *tool, const char *line)
{
    if (line == NULL)
        return lua_do(l, "abandoned", "ab:%s : 1|%s", tool, tool);
    return lua_do(l, "abandoned", "ab:%s : 1|%s|%s|%s", tool, tool, tool, line);
}

bool move_handle(struct lua *l, const char *id, unsigned fence, const char *handle)
{
    return lua_do(l, "handle", "t:%s : %s|%u|%s", id, id, fence, handle);
}

bool move_retry(struct lua *l, const char *id, unsigned fence, uint64_t delay)
{
    return lua_do(l, "retry", "t:%s ls dl dq st : %s|%u|%llu|trying again|{\"code\":-32603}", id,
                  id, fence, (unsigned long long)delay);
}

bool move_release(struct lua *l, const char *id, unsigned fence)
{
    return lua_do(l, "release", "ls t:%s : %s|%u", id, id, fence);
}

bool move_host(struct lua *l, const char *id, unsigned fence, const char *key, const char *params)
{
    return lua_do(l, "ask", "t:%s ls : %s|%u|%s|elicitation/create|%s|1", id, id, fence, key,
                  params);
}

bool move_unask(struct lua *l, const char *id, unsigned fence, const char *key, const char *answer)
{
    return lua_do(l, "unask", "t:%s ls : %s|%u|%s|%s", id, id, fence, key, answer);
}

bool move_reply(struct lua *l, const char *id, const char *session, const char *key,
                const char *answer)
{
    return lua_do(l, "answer", "t:%s se:%s : %s|%s|%s|%s|%s", id, session, id, OWNER, session, key,
                  answer);
}

bool move_questions(struct lua *l, const char *id, const char *owner)
{
    return lua_do(l, "questions", "t:%s : %s|%s", id, id, owner);
}

bool move_promote(struct lua *l, const char *id, const char *owner)
{
    return lua_do(l, "promote", "t:%s o:%s : %s|%s", id, owner, id, owner);
}

bool move_session(struct lua *l, const char *id, const char *owner)
{
    return lua_do(l, "session_create", "se:%s so:%s rl:%s : %s|%s|2025-11-25|{}|{}|900000|0|100",
                  id, owner, owner, id, owner);
}

bool move_open(struct lua *l, const char *stream, char kind, const char *session, const char *task,
               const char *process)
{
    return lua_do(l, "stream_open", "sm:%s sx:%s se:%s t:%s : %s|%c|%s|%s|%s|%s|%s|600000", stream,
                  stream, text(session), text(task), stream, kind, text(session), OWNER, text(task),
                  kind == 'g' ? "" : "7", process);
}

bool move_resume(struct lua *l, const char *stream, const char *last, const char *session,
                 const char *process)
{
    return lua_do(l, "stream_resume", "sm:%s sx:%s se:%s : %s|%s|%s|%s|%s|600000", stream, stream,
                  session, stream, last, session, OWNER, process);
}

bool move_read(struct lua *l, const char *stream, const char *last)
{
    return lua_do(l, "stream_read", "sx:%s : %s|%s", stream, stream, last);
}

bool move_drop(struct lua *l, const char *stream, const char *process, uint64_t ttl)
{
    return lua_do(l, "stream_drop", "sm:%s sx:%s : %s|%s|%llu", stream, stream, stream, process,
                  (unsigned long long)ttl);
}

bool move_watch(struct lua *l, const char *session, const char *uri)
{
    return lua_do(l, "watch_add", "wt:%s wu:%s se:%s : %s|%s|%s|docs|2|60000", session, uri,
                  session, session, OWNER, uri);
}

size_t carried(struct lua *l, const char *stream)
{
    int64_t n = lua_int(l, "XLEN %ssx:%s", l->T, stream);

    return n > 0 ? (size_t)n : 0;
}

const char *carried_at(struct lua *l, const char *stream, size_t n)
{
    char path[32];

    (void)lua_redis(l, "XRANGE %ssx:%s - +", l->T, stream);
    (void)snprintf(path, sizeof(path), "%zu.1.1", n);
    return lua_at(l, path);
}

const char *entry_at(struct lua *l, const char *stream, size_t n)
{
    static char entry[2][48];
    static unsigned turn;
    char *out = entry[turn++ % 2];
    char path[32];

    (void)lua_redis(l, "XRANGE %ssx:%s - +", l->T, stream);
    (void)snprintf(path, sizeof(path), "%zu.0", n);
    (void)snprintf(out, sizeof(entry[0]), "%s", lua_at(l, path));
    return out;
}

unsigned talking(struct lua *l, const char *id)
{
    if (!move_session(l, "s1", OWNER) ||
        !move_create(l, &(struct new_task){.id = id, .session = "s1", .token = "\"tok\""}))
        return 0;
    return move_take(l, id);
}
