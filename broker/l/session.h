/* session.h - sessions of the handshake dialect, as this broker remembers them.
 *
 * The truth is in Redis. A copy serves for a few seconds, and only while messages reach us, for a
 * session ended anywhere must be gone everywhere within one.
 */
#pragma once

#include "broker/l/version.h"
#include "common/err.h"
#include "common/id.h"
#include "common/map.h"
#include "common/store_session.h"

enum { SESSION_TTL_MS = 24 * 60 * 60 * 1000 };

struct sessions;

struct session_copy {
    struct map_node node;
    char id[ID_LEN + 1];
    char owner[ID_OWNER_LEN + 1];
    enum l_version version;
    char *capabilities; /* raw JSON */
    uint64_t at_ms;
};

struct sessions *sessions_new(struct store *store);
void sessions_free(struct sessions *s);

/* A copy that may be trusted now, of that owner's session, or NULL: then look it up. */
const struct session_copy *sessions_find(struct sessions *s, struct span id, struct span owner);
/* The copy that let a request in, for its method to look at in the turn in which it begins: nobody
 * asks again whether it may be trusted, for while messages do not reach us none may. */
const struct session_copy *sessions_admitted(const struct sessions *s, struct span id,
                                             struct span owner);
/* Remembers what was read. Borrowed until the loop turns. */
const struct session_copy *sessions_keep(struct sessions *s, const struct session *read);
void sessions_drop(struct sessions *s, struct span id);
void sessions_forget(struct sessions *s); /* all: some may have ended unheard */
