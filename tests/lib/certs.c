#include "tests/lib/certs.h"

#include "tests/lib/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPENSSL_MS = 20000 };

#define NEW_KEY \
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", \
        "-nodes", "-days", "2"

static void run(struct certs *c, const char *const *argv)
{
    char log[96];

    (void)snprintf(log, sizeof(log), "%s/log", c->dir);
    if (proc_wait(proc_start(argv, log), OPENSSL_MS) != 0) {
        (void)fprintf(stderr, "openssl failed; see %s\n", log);
        exit(2);
    }
}

static void make_authority(struct certs *c, const char *cert, const char *key)
{
    const char *argv[] = {NEW_KEY, "-subj", "/CN=authority", "-keyout", key, "-out", cert, NULL};

    run(c, argv);
}

void certs_make(struct certs *c, const char *names)
{
    char ca_key[96];
    char alt[128];

    (void)snprintf(c->dir, sizeof(c->dir), "/tmp/errand-certs-XXXXXX");
    if (mkdtemp(c->dir) == NULL)
        exit(2);
    (void)snprintf(c->ca, sizeof(c->ca), "%s/ca.pem", c->dir);
    (void)snprintf(ca_key, sizeof(ca_key), "%s/ca.key", c->dir);
    (void)snprintf(c->stranger, sizeof(c->stranger), "%s/stranger.pem", c->dir);
    (void)snprintf(c->cert, sizeof(c->cert), "%s/cert.pem", c->dir);
    (void)snprintf(c->key, sizeof(c->key), "%s/cert.key", c->dir);
    (void)snprintf(alt, sizeof(alt), "subjectAltName=%s", names);
    make_authority(c, c->stranger, c->key);
    make_authority(c, c->ca, ca_key);

    const char *argv[] = {NEW_KEY,
                          "-subj",
                          "/CN=server",
                          "-addext",
                          alt,
                          "-addext",
                          "basicConstraints=critical,CA:FALSE",
                          "-CA",
                          c->ca,
                          "-CAkey",
                          ca_key,
                          "-keyout",
                          c->key,
                          "-out",
                          c->cert,
                          NULL};
    run(c, argv);
}

void certs_remove(struct certs *c)
{
    remove_tree(c->dir);
}

void tls_redis_start(struct tls_redis *t, const char *names)
{
    certs_make(&t->certs, names);
    t->port = free_port();
    (void)snprintf(t->port_text, sizeof(t->port_text), "%u", t->port);
    const char *words[] = {"--tls-port",
                           t->port_text,
                           "--tls-cert-file",
                           t->certs.cert,
                           "--tls-key-file",
                           t->certs.key,
                           "--tls-ca-cert-file",
                           t->certs.ca,
                           "--tls-auth-clients",
                           "no",
                           NULL};
    memcpy(t->extra, words, sizeof(words));
    test_redis_start(&t->redis, t->extra);
}

void tls_redis_stop(struct tls_redis *t)
{
    test_redis_stop(&t->redis);
    certs_remove(&t->certs);
}
