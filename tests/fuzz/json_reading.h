/* json_reading.h - RFC 8259 read a second time, another way: recursive, one rule a function.
 *
 * What json_check() is held against: the same answer for any bytes.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

enum err json_second_reading(struct span text);
