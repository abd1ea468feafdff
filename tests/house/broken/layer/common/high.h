/* high.h - the upper of two. */
