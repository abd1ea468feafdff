/* mcp.h - what the listener hands over: which endpoint a request is for, and whether it may. */
#pragma once

#include "broker/http.h"

/* The http_fn of the broker; arg is the struct broker. */
void mcp_serve(void *arg, struct http_req *r);
