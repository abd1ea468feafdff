/* err.h - every way anything can fail, and what a failure means outside. */
#pragma once

#include <stdbool.h>

#define MUST_USE __attribute__((warn_unused_result))

enum err {
#define X(name, rpc, http, retry, text) ERR_##name,
#include "common/err.def"
#undef X
    ERR_COUNT
};

const char *err_name(enum err e); /* "TOO_BIG" */
const char *err_text(enum err e); /* one sentence, static */
int err_rpc(enum err e); /* JSON-RPC code; 0 when it never reaches a client */
int err_http(enum err e); /* HTTP status */
bool err_may_retry(enum err e);
