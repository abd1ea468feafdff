/* stop.h - Ctrl-C, counted. */
#pragma once

void stop_init(void); /* SIGINT and SIGTERM are counted from here on */
unsigned stop_count(void); /* how often since then */
