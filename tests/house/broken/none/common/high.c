#include "common/low.h"

/* may include what is below */
