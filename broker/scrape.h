/* scrape.h - /metrics: what this process counts, and what Redis says of the installation.
 *
 * Redis is asked when somebody asks us, at most once a second, and never otherwise. The answer
 * waits for it as long as a command may take; while Redis is away it is given at once, with what
 * was read last and how old that is.
 */
#pragma once

#include "broker/broker.h"

struct scrape *scrape_new(struct broker *b);
void scrape_free(struct scrape *s); /* after the store and the HTTP edge are gone */
void scrape_serve(struct broker *b, struct http_req *r);
