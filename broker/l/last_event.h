/* last_event.h - the ids of events on a stream, as clients give them back in Last-Event-ID. */
#pragma once

#include "common/span.h"
#include "common/store_stream.h"

#include <stdbool.h>

/* "<stream>.<entry>", where entry is one of the stream's log, or "end". False when the text cannot
 * be of ours. *entry is borrowed from it. */
bool last_event_parse(const char *text, char stream[static STREAM_ID_LEN + 1], struct span *entry);
