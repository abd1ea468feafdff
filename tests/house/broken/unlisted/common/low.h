/* low.h - listed. */
