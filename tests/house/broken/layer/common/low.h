/* low.h - knows what stands above it. */
#include "common/high.h"
