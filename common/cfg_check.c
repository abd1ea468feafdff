#include "common/cfg_check.h"

#include "common/cfg.h"
#include "common/mem.h"
#include "common/seal.h"
#include "common/span.h"
#include "common/url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { PASSWORD_MAX = 1024 };

static bool refuse(struct buf *why, const char *sentence)
{
    buf_adds(why, sentence);
    return false;
}

static bool read_port(const char *text, uint16_t *port)
{
    unsigned v = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p < '0' || *p > '9' || v > UINT16_MAX)
            return false;
        v = v * 10 + (unsigned)(*p - '0');
    }
    *port = (uint16_t)v;
    return text[0] != '\0' && v <= UINT16_MAX;
}

static bool is_name(struct span s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";

    for (size_t i = 0; i < s.n; i++)
        if (memchr(letters, s.p[i], sizeof(letters) - 1) == NULL)
            return false;
    return s.n != 0;
}

bool cfg_check_listen(const char *text, char **host, uint16_t *port, struct buf *why)
{
    const char *colon = strrchr(text, ':');
    struct span name = {text, colon != NULL ? (size_t)(colon - text) : 0};
    bool bracketed = name.n > 2 && text[0] == '[' && text[name.n - 1] == ']';
    struct in6_addr ignored;
    bool ok;

    if (bracketed)
        name = (struct span){name.p + 1, name.n - 2};
    *host = mem_dup(name.p, name.n);
    ok = colon != NULL && read_port(colon + 1, port) &&
         (bracketed ? inet_pton(AF_INET6, *host, &ignored) == 1 : is_name(name));
    if (ok)
        return true;
    free(*host);
    *host = NULL;
    cfg_add_quoted(why, text);
    return refuse(why, " is no address to listen on; write HOST:PORT, like 127.0.0.1:8080 or "
                       "[::1]:8080");
}

bool cfg_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcasecmp(host, "localhost") == 0;
}

bool cfg_check_prefix(const char *text, struct buf *why)
{
    if (is_name(span_of(text)))
        return true;
    cfg_add_quoted(why, text);
    return refuse(why, " is no prefix; write letters, digits, dots, dashes and underscores only");
}

bool cfg_check_base_url(const char *text, struct buf *why)
{
    size_t n = strlen(text);
    size_t scheme = strncmp(text, "https://", 8) == 0 ? 8 : 7;
    bool ok = (scheme == 8 || strncmp(text, "http://", 7) == 0) && n > scheme &&
              text[scheme] != '/' && text[scheme] != ':' && text[n - 1] != '/';

    for (size_t i = 0; i < n; i++)
        ok = ok && (unsigned char)text[i] > ' ' && (unsigned char)text[i] < 0x7f &&
             strchr("?#@\"<>\\", text[i]) == NULL;
    if (ok)
        return true;
    return refuse(why,
                  "it is no base of a URL; write https://HOST or http://HOST:PORT/PATH without "
                  "user, query or final slash");
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* So many bytes of a file, or fewer; -1, and why, when it cannot be read. */
static ssize_t read_start(const char *path, char *text, size_t room, struct buf *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd != -1 ? read(fd, text, room) : -1;

    if (n < 0)
        buf_addf(why, "%s cannot be read: %s", path, strerror(errno));
    if (fd != -1)
        (void)close(fd);
    return n;
}

bool cfg_read_secret(const char *path, unsigned char out[static 32], struct buf *why)
{
    char text[SEAL_HASH_LEN + 8];
    ssize_t n = read_start(path, text, sizeof(text), why);
    bool ok;

    if (n < 0)
        return false;
    while (n > 0 && is_space(text[n - 1]))
        n--;
    ok = seal_secret_parse(out, (struct span){text, (size_t)n}) == ERR_OK;
    seal_wipe(text, sizeof(text));
    if (!ok)
        buf_addf(why,
                 "%s does not hold a secret, which is 43 characters of base64url; make one with: "
                 "head -c 32 /dev/urandom | basenc --base64url | tr -d =",
                 path);
    return ok;
}

/* The first line of the file, which is all it may hold. */
static bool read_password(const char *path, struct url *u, struct buf *why)
{
    char text[PASSWORD_MAX + 3];
    ssize_t n = read_start(path, text, sizeof(text), why);
    bool ok;

    if (n < 0)
        return false;
    if (n > 0 && text[n - 1] == '\n')
        n--;
    if (n > 0 && text[n - 1] == '\r')
        n--;
    ok = n > 0 && n <= PASSWORD_MAX && memchr(text, '\n', (size_t)n) == NULL &&
         memchr(text, '\0', (size_t)n) == NULL;
    if (ok)
        u->password = mem_dup(text, (size_t)n);
    else
        buf_addf(why, "%s does not hold a password, which is one line of at most %d bytes", path,
                 PASSWORD_MAX);
    explicit_bzero(text, sizeof(text));
    return ok;
}

bool cfg_check_redis(const struct cfg *c, const void *conf, const char *text,
                     const char *password_file, struct url *u, struct buf *why)
{
    if (url_parse(u, text, why) != ERR_OK)
        return cfg_blame(c, conf, "redis", why);
    if (password_file == NULL) {
        if (u->user == NULL || u->password != NULL)
            return true;
        buf_adds(why, "the Redis URL names a user without a password; write USER:PASSWORD@, or "
                      "give --redis-password-file");
        return cfg_blame(c, conf, "redis", why);
    }
    if (u->password != NULL) {
        buf_adds(why, "the Redis URL has a password already; leave one of the two out");
        return cfg_blame(c, conf, "redis-password-file", why);
    }
    return read_password(password_file, u, why) || cfg_blame(c, conf, "redis-password-file", why);
}

bool cfg_blame(const struct cfg *c, const void *conf, const char *name, struct buf *why)
{
    struct buf place;

    buf_init(&place, why->max);
    cfg_place(&place, c, conf, name);
    buf_adds(&place, ": ");
    buf_add_span(&place, buf_span(why));
    buf_reset(why);
    buf_add_span(why, buf_span(&place));
    buf_fini(&place);
    return false;
}
