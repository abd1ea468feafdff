/* ask_inside.h - one question, shared by ask.c, ask_end.c and ask_host.c only. */
#pragma once

#include "common/buf.h"
#include "worker/ask.h"

enum { ASK_KEY_ROOM = 64, ASK_METHOD_ROOM = 32, ASK_DIGEST_LEN = 22 };

struct asks {
    struct store *store;
    struct slots *slots;
    struct list list; /* of struct ask by among */
    uint64_t next;
    struct event *timer;
};

/* What one attempt has asked so far. */
struct used {
    char digest[ASK_DIGEST_LEN + 1];
    unsigned times;
};
struct asking {
    struct list open; /* of struct ask by node */
    unsigned n;
    struct used *used;
    size_t used_n;
};

enum ask_stage {
    ASK_PUT, /* the question itself */
    ASK_REST, /* the client works on it: until the next look at its task */
    ASK_GET, /* tasks/get */
    ASK_RESULT, /* tasks/result */
};

struct ask {
    struct list node; /* among those of its slot */
    struct list among; /* among all */
    struct asks *all;
    struct slot *slot;
    uint64_t no; /* names it while a call is under way */
    char *id; /* the runner's, raw */
    char method[ASK_METHOD_ROOM];
    char key[ASK_KEY_ROOM];
    struct buf params; /* as sent */
    bool is_named; /* its key is the runner's own name for it */
    bool is_hosted; /* it was asked as a task of the client's */
    enum ask_stage stage;
    char *task; /* raw id of the client's task, or NULL */
    uint64_t every_ms; /* between looks at that */
    uint64_t due_ms; /* when to ask Redis again, or to look at the client's task */
    uint64_t deadline_ms;
    bool is_sent; /* a call is under way */
    bool is_news; /* there may be an answer that it did not see */
};

struct store *ask_store(const struct ask *a);
/* Puts the question of its stage down in Redis, or looks for the answer. */
void ask_send(struct ask *a);
/* The key of its stage. */
void ask_key(const struct ask *a, char out[static ASK_KEY_ROOM]);
/* Forgets a question in Redis, or keeps its answer. */
void ask_unask(const struct ask *a, const char *key, struct span answer);
/* Checks what the client said, gives it to the job and forgets the question. */
void ask_finish(struct ask *a, struct span answer);
/* The same with an error. */
void ask_fail(struct ask *a, int code, const char *message);
/* The same, when Redis knows nothing of it. */
void ask_end(struct ask *a, int code, const char *message);
/* Takes it back. The job is not told. */
void ask_forget(const struct ask *a);
void ask_free(struct ask *a);
/* Answers something that was never put down. */
void ask_refuse(struct slot *s, struct span id, int code, struct span message);
/* Names it by what it asks, see ask.h. */
void ask_make_key(struct ask *a);
