/* door.h - a broker that starts lets nobody in before it can serve.
 *
 * Who comes meanwhile waits in the socket's queue, where a balancer sees neither a refusal nor an
 * error. Without Redis the door is opened after a moment all the same, to say so.
 */
#pragma once

#include "broker/broker.h"

struct door;

/* After the broker's other parts; its HTTP server is paused. */
struct door *door_new(struct broker *b);
void door_free(struct door *d);
