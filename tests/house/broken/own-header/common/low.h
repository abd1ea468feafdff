/* low.h - included too late. */
