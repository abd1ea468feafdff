#include "broker/l/last_event.h"

#include <string.h>

bool last_event_parse(const char *text, char stream[static STREAM_ID_LEN + 1], struct span *entry)
{
    if (strnlen(text, STREAM_ID_LEN + 2) < STREAM_ID_LEN + 2 || text[STREAM_ID_LEN] != '.')
        return false;
    memcpy(stream, text, STREAM_ID_LEN);
    stream[STREAM_ID_LEN] = '\0';
    *entry = span_of(text + STREAM_ID_LEN + 1);
    return strspn(entry->p, "0123456789-") == entry->n || span_is(*entry, "end");
}
