/* Every key that a caller could name stands in KEYS, so that a moving slot refuses the call before
 * anything has run. What a function touches is watched by MONITOR while a tour calls all of them.
 */
#include "common/lua_library.h"
#include "tests/lib/talk.h"
#include "tests/lib/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 256 };

/* One line of MONITOR: the words of a command, and whether a function said it. */
struct line {
    char *text; /* unquoted in place */
    const char *word[WORDS_MAX];
    size_t n;
    bool from_lua;
};

static struct line call; /* the FCALL that is running */
static redisContext *monitor;
static char seen[64][32]; /* functions that were called */
static size_t seen_count;
static unsigned undeclared;

/* Undeclared although the tools are named: only read, to see whom to wake or how long a queue is.
 * Nothing is left half done when such a read is refused. */
static const char *const excused[][2] = {{"finish", "pl:"}, {"queue", "rq:"}};

static char *unquote(char *p, char **end)
{
    char *out = p;
    char *at = p;

    for (; *p != '"'; p++) {
        if (*p == '\\')
            p++; /* what is escaped does not matter here */
        *at++ = *p;
    }
    *end = p + 1;
    *at = '\0';
    return out;
}

static bool parse(struct line *l, const char *text)
{
    char *p;

    l->text = strdup(text);
    l->n = 0;
    l->from_lua = strstr(text, " lua] ") != NULL;
    p = strchr(l->text, '"');
    while (p != NULL && *p == '"' && l->n < WORDS_MAX) {
        l->word[l->n++] = unquote(p + 1, &p);
        if (*p == ' ')
            p++;
    }
    return l->n > 0;
}

static bool in_call(const char *word, size_t from, size_t to)
{
    for (size_t i = from; i < to && i < call.n; i++)
        if (strcmp(call.word[i], word) == 0)
            return true;
    return false;
}

static size_t key_count(void)
{
    return strtoul(call.word[2], NULL, 10);
}

/* Could the caller have named it? Its variable parts all stand in ARGV, or it has none. */
static bool nameable(const char *key)
{
    const char *kind = strstr(key, "}:") + 2;
    const char *name = strchr(kind, ':');
    char whole[128];
    char *inner;

    if (name == NULL)
        return true;
    (void)snprintf(whole, sizeof(whole), "%s", name + 1);
    if (in_call(whole, 3 + key_count(), call.n))
        return true;
    inner = strrchr(whole, ':'); /* rq:<tool>:<class>, im:<oh>:<digest> */
    if (inner == NULL)
        return false;
    *inner = '\0';
    return in_call(whole, 3 + key_count(), call.n);
}

static bool is_excused(const char *fn, const char *key)
{
    const char *kind = strstr(key, "}:") + 2;

    for (size_t i = 0; i < sizeof(excused) / sizeof(excused[0]); i++)
        if (strcmp(fn, excused[i][0]) == 0 && strncmp(kind, excused[i][1], 3) == 0)
            return true;
    return false;
}

static const char *function_name(void)
{
    return call.word[1] + strlen("errand_12345678_");
}

static void touched(const char *command, const char *key)
{
    if (in_call(key, 3, 3 + key_count()) || !nameable(key) || is_excused(function_name(), key))
        return;
    undeclared++;
    (void)fprintf(stderr, "  %s: %s %s is not in KEYS\n", function_name(), command, key);
}

static void inside(const struct line *l)
{
    const char *command = l->word[0];

    if (strcasecmp(command, "TIME") == 0 || strcasecmp(command, "PUBLISH") == 0)
        return;
    if (strcasecmp(command, "DEL") == 0 || strcasecmp(command, "EXISTS") == 0) {
        for (size_t i = 1; i < l->n; i++)
            touched(command, l->word[i]);
        return;
    }
    touched(command, l->word[strcasecmp(command, "XINFO") == 0 ? 2 : 1]);
}

static void note_function(const char *name)
{
    for (size_t i = 0; i < seen_count; i++)
        if (strcmp(seen[i], name) == 0)
            return;
    (void)snprintf(seen[seen_count++], sizeof(seen[0]), "%s", name);
}

/* Reads what was done up to a mark. */
static void watch(struct lua *l)
{
    bool more = true;

    (void)lua_redis(l, "ECHO the-mark");
    while (more) {
        redisReply *r = NULL;
        struct line line;

        if (redisGetReply(monitor, (void **)&r) != REDIS_OK)
            exit(2);
        if (!parse(&line, r->str)) {
            free(line.text);
        } else if (line.from_lua) {
            inside(&line);
            free(line.text);
        } else if (strcasecmp(line.word[0], "FCALL") == 0) {
            free(call.text);
            call = line;
            note_function(function_name());
        } else {
            more = strcasecmp(line.word[0], "ECHO") != 0;
            free(line.text);
        }
        freeReplyObject(r);
    }
}

/* --- the tour: every function, and every branch that touches other keys --- */

static const struct hand hand = {.wid = "w1"};

static void tour_of_a_task(struct lua *l)
{
    struct new_task t = {.id = ID(1),
                         .max_running = 1,
                         .idem = "k",
                         .digest = "d",
                         .rate = 9000000,
                         .session = "s1",
                         .bid = "b1"};
    struct end e = {.id = ID(1)};

    (void)lua_do(l, "serve", "pl:t : p|t");
    (void)move_claim(l, &hand, 1);
    (void)move_create(l, &t);
    (void)move_create(l, &t);
    t.id = ID(2);
    (void)move_create(l, &t);
    t.idem = NULL;
    (void)move_create(l, &t);
    t.id = ID(3);
    (void)move_create(l, &t);
    e.fence = move_take(l, ID(1));
    (void)move_report(l, ID(1), e.fence, "m", "1");
    (void)move_handle(l, ID(1), e.fence, "h");
    (void)move_hook(l, ID(1), "{}");
    (void)move_abandoned(l, "t", ID(1) " h");
    (void)move_heard(l, ID(1), e.fence, 4);
    (void)move_ask(l, ID(1), e.fence, "k", "?");
    (void)move_answer(l, ID(1), OWNER, "k", "!");
    (void)move_beat(l, ID(1), e.fence, 60000);
    (void)move_finish(l, &hand, &e, 1, 2);
    (void)move_get(l, ID(1), OWNER, "b2");
    (void)move_list(l, OWNER, 0, 10);
    watch(l);
}

static void tour_of_streams(struct lua *l)
{
    unsigned fence;

    (void)move_session(l, "s1", OWNER);
    (void)move_open(l, "get-1", 'g', "s1", NULL, "b1");
    (void)move_open(l, "get-2", 'g', "s1", NULL, "b2");
    (void)move_create(l, &(struct new_task){.id = ID(5),
                                            .session = "s1",
                                            .hidden = true,
                                            .token = "1",
                                            .stream = "call-1",
                                            .bid = "b1"});
    fence = move_take(l, ID(5));
    (void)move_ask(l, ID(5), fence, "k", "{}");
    (void)move_report(l, ID(5), fence, NULL, "{\"progress\":1}");
    (void)move_open(l, "call-1", 'c', "s1", ID(5), "b1");
    (void)move_promote(l, ID(5), OWNER);
    (void)move_open(l, "wait-1", 'r', "s1", ID(5), "b1");
    (void)move_log(l, ID(5), fence, "error", "{}");
    (void)move_resume(l, "call-1", "0", "s1", "b2");
    (void)move_resume(l, "get-1", "0", "s1", "b2");
    (void)move_questions(l, ID(5), OWNER);
    (void)move_reply(l, ID(5), "s1", "k", "!");
    (void)move_host(l, ID(5), fence, "k2", "{}");
    (void)move_unask(l, ID(5), fence, "k2", "");
    (void)move_host(l, ID(5), fence, "k3", "{}");
    (void)move_cancel(l, ID(5), OWNER);
    (void)move_read(l, "get-2", "0");
    (void)lua_do(l, "stream_keep", "sm:get-1 sm:get-2 sx:get-1 sx:get-2 : b2|900|get-1|get-2");
    (void)move_drop(l, "get-2", "b2", 1000);
    watch(l);
}

static void tour_of_failures(struct lua *l)
{
    unsigned fence = 1;

    (void)move_claim(l, &hand, 0);
    (void)move_release(l, ID(2), fence);
    (void)move_take(l, ID(2));
    (void)move_unclaim(l, "w1", 0);
    fence = move_take(l, ID(2));
    (void)move_retry(l, ID(2), fence, 0);
    come_due(l, ID(2));
    (void)move_tick(l);
    (void)lua_redis(l, "HSET %st:%s mx 1", l->T, ID(2));
    fence = move_take(l, ID(2));
    (void)move_retry(l, ID(2), fence, 0); /* dead; promotes */
    fence = move_take(l, ID(3));
    lapse(l, ID(3));
    (void)move_tick(l);
    (void)move_cancel(l, ID(3), OWNER);
    expire(l, ID(3), OWNER);
    (void)move_tick(l);
    (void)move_list(l, OWNER, 0, 10);
    watch(l);
}

static void tour_of_operators(struct lua *l)
{
    char entry[32];

    (void)lua_do(l, "queue", "ls dl ix dq st : t");
    (void)lua_do(l, "running", "ls : 5");
    (void)lua_do(l, "dead_list", "dq : 5");
    (void)snprintf(entry, sizeof(entry), "%s", lua_at(l, "0"));
    (void)lua_do(l, "dead_requeue", "dq sq ix t:%s : %s|%s", ID(4), entry, ID(4));
    (void)lua_do(l, "dead_drop", "dq : %s", entry);
    (void)lua_do(l, "throttle", "rl:%s : %s|5|1", OWNER, OWNER);
    (void)lua_do(l, "session_create", "se:s1 so:%s rl:%s : s1|%s|v|c|i|90000|5|9", OWNER, OWNER,
                 OWNER);
    (void)lua_do(l, "session_read", "se:s1 so:%s : s1|%s|900000", OWNER, OWNER);
    (void)lua_do(l, "session_set", "se:s1 : s1|in|1");
    (void)lua_do(l, "watch_add", "wt:s1 wu:x se:s1 : s1|%s|x|docs|9|60000", OWNER);
    (void)lua_do(l, "watch_list", "wt:s1 se:s1 : 60000|s1");
    (void)lua_do(l, "watch_tell", "wu:x : docs|x|1|0|x");
    (void)lua_do(l, "watch_drop", "wt:s1 wu:x : s1|x");
    (void)lua_do(l, "session_end", "se:s1 wt:s1 so:%s : s1|%s", OWNER, OWNER);
    watch(l);
}

static void tour_of_the_installation(struct lua *l)
{
    lua_use(l, "g");
    (void)lua_do(l, "boot", "conf : 1|s");
    for (int i = 0; i < 3; i++)
        (void)lua_do(l, "announce", "tools seen tv ws w:w%d : w%d|p|i|%d|t|d%d|{}|{}", i, i, i, i);
    (void)lua_do(l, "want", "wn:docs wo:docs:o1 : 60000|9|x");
    (void)lua_do(l, "announce", "tools seen tv ws w:w1 wn:docs : w1|p|i|1|@docs|d|{}|{}");
    (void)lua_do(l, "tools", "tools seen : 60000");
    (void)lua_do(l, "workers", "ws");
    (void)lua_do(l, "leave", "w:w1 ws tools seen tv : w1");
    (void)lua_do(l, "key_add", "key:n kh:h keys : n|h|s|0|0");
    (void)lua_do(l, "key_rotate", "key:n kh:h2 : n|h2||0||60000");
    (void)lua_do(l, "key_find", "kh:h : h");
    (void)lua_do(l, "key_rotate", "key:n kh:h2 : n|h2|s|0|0|1000");
    (void)lua_do(l, "key_list", "keys");
    (void)lua_do(l, "key_rotate", "key:n kh:i : n|i||0||1000");
    (void)lua_do(l, "key_revoke", "key:n keys : n");
    watch(l);
    lua_use(l, "0");
}

static void begin(struct lua *l)
{
    redisReply *r;

    undeclared = 0;
    monitor = redisConnectUnix(l->redis.socket);
    r = redisCommand(monitor, "MONITOR");
    freeReplyObject(r);
}

static void finish(void)
{
    redisFree(monitor);
    free(call.text);
    call.text = NULL;
    call.n = 0;
}

TEST(R2_every_key_that_can_be_named_is_declared)
{
    struct lua *l = lua_fresh();

    begin(l);
    tour_of_a_task(l);
    tour_of_streams(l);
    tour_of_failures(l);
    tour_of_operators(l);
    tour_of_the_installation(l);
    finish();
    CHECK(undeclared == 0);
    REQUIRE(lua_redis(l, "FUNCTION LIST"));
    CHECK(seen_count == lua_count(l, "0.5"));
}

TEST(a_key_that_is_left_out_is_noticed)
{
    struct lua *l = lua_fresh();

    REQUIRE(move_create(l, &(struct new_task){.id = ID(1)}));
    begin(l);
    (void)lua_do(l, "dead_requeue", "dq sq ix : 1-1|%s", ID(1));
    watch(l);
    finish();
    CHECK(undeclared == 1);
}
