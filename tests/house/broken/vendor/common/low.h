/* low.h - not the one that may talk to Redis. */
#include <hiredis/hiredis.h>
