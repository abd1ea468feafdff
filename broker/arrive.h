/* arrive.h - the steps of an MCP POST before its method runs.
 *
 *     credential -> envelope -> session -> revision -> scope -> method
 *
 * Each either answers the request itself or hands it on.
 */
#pragma once

#include "broker/broker.h"

void arrive(struct broker *b, struct http_req *http);
