/* certs.h - certificates for one test: an authority, a server it vouches for, and a stranger. */
#pragma once

#include "tests/lib/redis.h"

struct certs {
    char dir[64];
    char ca[96];
    char stranger[96]; /* another authority, which signed nothing */
    char cert[96]; /* of the server, signed by ca */
    char key[96];
};

/* names as in a subjectAltName: "DNS:localhost,IP:127.0.0.1". Ends the program on failure. */
void certs_make(struct certs *c, const char *names);
void certs_remove(struct certs *c);

/* A Redis that speaks TLS on 127.0.0.1 with such a certificate. */
struct tls_redis {
    struct test_redis redis;
    struct certs certs;
    uint16_t port;
    char port_text[8];
    const char *extra[12];
};

void tls_redis_start(struct tls_redis *t, const char *names);
void tls_redis_stop(struct tls_redis *t);
