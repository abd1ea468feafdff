/* auth.h - a request's credential -> its principal.
 *
 * none: everybody is the one anonymous principal, and a task's id is its only secret.
 * key: Authorization: Bearer <API key>. A key that was looked up is remembered for a few seconds;
 * a key made or revoked anywhere empties that memory at every broker. Requests in hand end with
 * their key: within a second of its end they are closed.
 */
#pragma once

#include "broker/principal.h"
#include "common/err.h"

struct auth;
struct event_base;
struct http_req;
struct store;

enum auth_mode { AUTH_NONE, AUTH_KEY };

/* who is NULL unless e is ERR_OK. ERR_UNAUTHORIZED: no credential, or not a valid one;
 * ERR_UNAVAILABLE: it could not be looked up. */
typedef void auth_fn(void *arg, enum err e, const struct principal *who);

struct auth *auth_new(struct event_base *base, enum auth_mode mode, struct store *store);
void auth_free(struct auth *a);
enum auth_mode auth_mode(const struct auth *a);
void auth_forget(struct auth *a); /* keys changed somewhere */

/* Returns true when the answer is known at once: *who, or ERR_UNAUTHORIZED in *e. Else fn is told
 * later, once. */
bool auth_check(struct auth *a, struct http_req *r, enum err *e, struct principal *who, auth_fn *fn,
                void *arg);
/* While r is not answered it is closed when the credential of `who`, which it came with, ends. */
void auth_bind(struct auth *a, struct http_req *r, const struct principal *who);
/* The WWW-Authenticate value for a 401: with invalid, the client learns that its key was no good.
 */
const char *auth_challenge(bool invalid);
