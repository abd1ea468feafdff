/* lua_library.h - the text of the Redis Functions library, made from common/lua at build time. */
#pragma once

extern const char lua_library_version[]; /* 8 hex digits: part of every function's name */
extern const char lua_library[];
extern const unsigned long lua_library_len;
