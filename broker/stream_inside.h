/* stream_inside.h - what the files of the streams share.
 *
 *     stream        one stream: its life, what is written to it, how it ends
 *     stream_open   its record in Redis: made, or taken over
 *     stream_expect what it carries while it is being taken over
 *     streams       all of this broker's: what Redis tells them, their renewal
 */
#pragma once

#include "broker/stream.h"
#include "common/list.h"
#include "common/map.h"
#include "common/sm.h"

struct event;

enum { STREAM_ENTRY_MAX = 48 };
enum stream_state { RESERVED, OPENING, OPEN };

/* An event that came while its stream was not open yet. */
struct held {
    struct list node;
    char entry[STREAM_ENTRY_MAX];
    size_t n;
    char message[];
};

struct stream {
    struct map_node by_id;
    struct map_node by_session; /* GET streams */
    struct streams *all;
    struct sm sm;
    enum store_stream_kind kind;
    char id[ID_SHORT_LEN + 1];
    char session[ID_LEN + 1];
    char owner[ID_OWNER_LEN + 1];
    char task[ID_LEN + 1];
    char *request;
    unsigned partition;
    uint64_t number; /* grows: the newest GET stream of a session has the largest */
    bool tasks;
    bool ending; /* the answer is in `held`: end once open */
    bool is_waiting; /* OPENING, and to be tried again: the store did not answer */
    bool wanted;
    bool silent; /* a newer GET stream of its session stands at another broker */
    struct sse *sse;
    struct list held;
    char last[STREAM_ENTRY_MAX]; /* the last entry that was written */
    stream_wanted_fn *on_wanted;
    stream_gone_fn *on_gone;
    void *arg;
};

struct streams {
    struct broker *b;
    struct map by_id;
    struct map by_session;
    struct map expected;
    struct event *renew;
    struct event *again; /* soon: for those that are waiting */
    uint64_t last;
};

struct stream *stream_new(struct streams *s, const struct stream_use *use, const char *id);
void stream_free(struct stream *st);
struct stream *stream_find(const struct streams *s, struct span id);
/* The client of a started stream left. */
void stream_on_gone(void *arg);
/* Asks for the record of a stream that is OPENING. Asked again it is the same one, and what it
 * carried meanwhile is answered: nothing is missed, and nothing comes twice. */
void stream_open_record(struct stream *st);
void stream_open_later(struct stream *st); /* the store did not answer */
void stream_open_without(struct stream *st); /* a record, for its answer is there */
/* Writes these, then what came meanwhile. */
void stream_become_open(struct stream *st, const struct store_stream_event *events, size_t count);
/* Keeps an event for later, if it is for a stream of that kind. */
void stream_hold(const struct streams *s, struct list *held, bool tasks,
                 const struct store_stream_event *e);
/* To all who expect the stream of that id. */
void stream_expected_take(const struct streams *s, struct span id,
                          const struct store_stream_event *e);
/* An event: written when the stream is open, else kept until it is. */
void stream_take(struct stream *st, const struct store_stream_event *e);
void stream_prime(struct stream *st);
/* The stream is open: writes what came meanwhile, and the answer if it is there, which ends it. */
void stream_flush(struct stream *st);

/* A look-up under way names its stream, which may be gone when it comes back. */
struct stream_lookup {
    struct streams *all;
    char id[ID_SHORT_LEN + 1];
};
struct stream_lookup *stream_lookup_new(const struct stream *st);
