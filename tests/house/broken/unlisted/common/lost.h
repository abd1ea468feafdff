/* lost.h - stands on no line of the layers. */
