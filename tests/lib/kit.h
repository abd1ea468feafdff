/* kit.h - a real Redis, an event loop, and stores on it that remember what they were told. */
#pragma once

#include "common/store.h"
#include "tests/lib/redis.h"

#include <event2/event.h>

struct kit {
    struct event_base *base;
    struct test_redis redis;
    struct url url;
};

/* extra: more words for the server's command line, NULL-terminated, or NULL. */
void kit_start(struct kit *k, const char *const *extra);
void kit_stop(struct kit *k);

enum { KIT_EVENTS = 256, KIT_TEXT = 200 };

struct kit_event { /* texts are copied, cut at KIT_TEXT */
    enum store_event_kind kind;
    enum task_state state;
    bool is_error;
    bool hidden;
    bool omitted;
    bool has_outcome;
    char dialect;
    uint64_t version;
    bool is_task;
    unsigned partition;
    size_t outcome_n;
    char id[KIT_TEXT];
    char message[KIT_TEXT];
    char progress[KIT_TEXT];
    char tool[KIT_TEXT];
    char task_session[KIT_TEXT];
    char session[KIT_TEXT];
    char request[KIT_TEXT];
    char outcome[KIT_TEXT];
    char key[KIT_TEXT];
    char stream[KIT_TEXT];
    char server[KIT_TEXT];
    char uri[KIT_TEXT];
    char entry[KIT_TEXT];
    char data[KIT_TEXT];
};

struct kit_store {
    struct kit *kit;
    struct store *s;
    unsigned ready; /* how often each was told */
    unsigned down;
    unsigned refused;
    unsigned gap;
    char why[256]; /* the last one of DOWN or REFUSED */
    struct kit_event events[KIT_EVENTS];
    unsigned event_count;
};

/* conf.url, prefix, self and role are filled in when they are NULL. */
void kit_store_new(struct kit_store *p, struct kit *k, struct store_conf conf);
/* The same, and turns the loop until it is ready and listening (or refused): says if it is. */
bool kit_store_open(struct kit_store *p, struct kit *k, struct store_conf conf);
bool kit_store_wait(struct kit_store *p); /* until ready (again), and listening if it subscribes */
void kit_store_free(struct kit_store *p);
/* Turns until an event of that kind (about that id, when not NULL) is there; NULL: none came. The
 * event is the newest such one. */
const struct kit_event *kit_event(struct kit_store *p, enum store_event_kind kind, const char *id);
unsigned kit_count(const struct kit_store *p, enum store_event_kind kind, const char *id);

/* What callbacks of the tests write to, and waiting for it. */
struct kit_answer {
    unsigned calls;
    enum err e;
};
bool kit_wait(struct kit *k, const struct kit_answer *a, unsigned calls);

/* A command on the blocking connection, as text: strings as they are, numbers, arrays joined by
 * spaces; free() it. */
char *kit_redis(struct kit *k, const char *format, ...); /* hiredis' %s %b %u */
void kit_copy(char out[static KIT_TEXT], struct span s);
