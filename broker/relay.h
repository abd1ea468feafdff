/* relay.h - what Redis publishes -> the requests and streams that wait at this broker. */
#pragma once

#include "broker/broker.h"

/* The store_event_fn and store_news_fn of the broker; arg is the struct broker. */
void relay_event(void *arg, const struct store_event *ev);
void relay_news(void *arg, enum store_news news, const char *why);
/* The catalog_fn. */
void relay_catalog_changed(void *arg, unsigned what);
