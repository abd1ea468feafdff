/* admin.h - what operators and their machines ask a broker: /healthz /readyz /metrics. */
#pragma once

#include "broker/broker.h"

/* false: not one of these endpoints; r is untouched. */
bool admin_serve(struct broker *b, struct http_req *r);
