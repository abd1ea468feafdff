#include <stdio.h>

#include "common/low.h"
