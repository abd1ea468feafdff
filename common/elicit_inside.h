/* elicit_inside.h - shared by elicit.c and elicit_value.c only. */
#pragma once

#include "common/elicit.h"
#include "common/json.h"

/* `"name" what`; false. */
bool elicit_refuse(struct buf *why, struct span name, const char *what);
