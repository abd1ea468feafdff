#include "common/err.h"

static const struct {
    const char *name;
    const char *text;
    int rpc;
    int http;
    bool retry;
} rows[] = {
#define X(name, rpc, http, retry, text) {#name, text, rpc, http, retry},
#include "common/err.def"
#undef X
};

const char *err_name(enum err e)
{
    return rows[e].name;
}

const char *err_text(enum err e)
{
    return rows[e].text;
}

int err_rpc(enum err e)
{
    return rows[e].rpc;
}

int err_http(enum err e)
{
    return rows[e].http;
}

bool err_may_retry(enum err e)
{
    return rows[e].retry;
}
