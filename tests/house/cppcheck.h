/* cppcheck.h - macros of system headers that cppcheck, which does not read those, cannot guess. */
#define evutil_timercmp(a, b, op) \
    ((a)->tv_sec == (b)->tv_sec ? (a)->tv_usec op(b)->tv_usec : (a)->tv_sec op(b)->tv_sec)
