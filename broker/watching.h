/* watching.h - keeps what clients watch of wrapped servers' resources alive, as long as they
 * listen.
 *
 * What a worker is to subscribe to lapses three minutes after the last broker asked for it. Brokers
 * ask for the sessions whose GET streams they hold and for their own subscriptions/listen streams:
 * at once when one of them opens, and every minute.
 */
#pragma once

#include "broker/broker.h"

struct watching;

struct watching *watching_new(struct broker *b);
void watching_free(struct watching *w);
/* A GET stream of a session was opened: what the session watches is wanted again. */
void watching_session(struct watching *w, unsigned partition, const char *session);
