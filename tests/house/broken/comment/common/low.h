/* low.h - has the wrong kind of comment. */
static const char *const low = "http://127.0.0.1/"; // here
