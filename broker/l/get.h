/* get.h - GET and DELETE on the endpoint: a session's own stream, a broken one taken up again, and
 * the session's end. */
#pragma once

#include "broker/broker.h"
#include "broker/principal.h"

void l_get(struct broker *b, struct http_req *http, const struct principal *who);
void l_delete(struct broker *b, struct http_req *http, const struct principal *who);
