/* low.h - strcpy is fine here, and so is strcpy() in this comment. */
static inline void low(char *to, const char *from)
{
    strcpy(to, from);
}
