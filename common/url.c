#include "common/url.h"

#include "common/mem.h"
#include "common/span.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum {
    DEFAULT_PORT = 6379,
    SENTINEL_PORT = 26379,
    SENTINELS_MAX = 16,
    NAME_MAX_LEN = 128,
    DB_MAX = 65535,
    HOST_MAX = 253, /* of a DNS name */
    PATH_LIMIT = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1,
};

/* The pieces of a URL, as they stand in its text. */
struct parts {
    struct span user_info; /* absent without @ */
    struct span host_port;
    struct span path; /* with its leading slash, or empty */
    struct span query; /* absent without ? */
    bool is_unix;
    bool is_sentinel;
};

/* Every sentence is a constant: what was written may hold a password in any place. */
static enum err refuse(struct buf *why, const char *sentence)
{
    buf_adds(why, sentence);
    return ERR_CONFIG;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static enum err read_scheme(struct url *u, struct parts *s, const char **rest, struct buf *why)
{
    const char *text = *rest;
    const char *colon = strstr(text, "://");

    if (text[0] == '\0')
        return refuse(why, "the Redis URL is empty; write redis://HOST:PORT/DB");
    for (const char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return refuse(why, "the Redis URL holds a space or a control character; write it "
                               "percent-encoded, a space as %20");
    s->is_sentinel = starts(text, "redis+sentinel://") || starts(text, "rediss+sentinel://");
    s->is_unix = starts(text, "unix://");
    u->tls = starts(text, "rediss://") || starts(text, "rediss+sentinel://");
    if (colon == NULL || (!s->is_sentinel && !u->tls && !s->is_unix && !starts(text, "redis://")))
        return refuse(why, "the Redis URL must begin with redis://, rediss://, redis+sentinel:// "
                           "or unix://");
    *rest = colon + 3;
    return ERR_OK;
}

static enum err split(struct parts *s, const char *rest, struct buf *why)
{
    size_t n = strcspn(rest, "/?#");
    const char *tail = rest + n;
    const char *at = memrchr(rest, '@', n);

    if (at == NULL && strchr(tail, '@') != NULL && !s->is_unix)
        return refuse(why, "a /, ? or # in the user or password of the Redis URL must be written "
                           "%2F, %3F or %23, and an @ after the host %40");
    if (strchr(tail, '#') != NULL)
        return refuse(why, "the Redis URL holds a #; write it %23");
    if (at != NULL) {
        s->user_info = (struct span){rest, (size_t)(at - rest)};
        n -= s->user_info.n + 1;
        rest = at + 1;
    }
    s->host_port = (struct span){rest, n};
    s->path = (struct span){tail, strcspn(tail, "?")};
    if (tail[s->path.n] == '?')
        s->query = span_of(tail + s->path.n + 1);
    return ERR_OK;
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* A copy with the %XX decoded; NULL when one is broken or stands for a NUL. */
static char *decode(struct span s)
{
    char *out = mem_alloc(s.n + 1);
    size_t n = 0;

    for (size_t i = 0; s.p != NULL && i < s.n; i++) {
        int hi = s.p[i] == '%' && s.n - i > 2 ? hex(s.p[i + 1]) : -1;
        int lo = hi >= 0 ? hex(s.p[i + 2]) : -1;

        if (s.p[i] == '%' && (lo < 0 || hi + lo == 0)) {
            explicit_bzero(out, s.n + 1);
            free(out);
            return NULL;
        }
        out[n++] = s.p[i] == '%' ? (char)(hi * 16 + lo) : s.p[i];
        i += s.p[i] == '%' ? 2 : 0;
    }
    out[n] = '\0';
    return out;
}

static enum err read_user(struct url *u, struct span info, struct buf *why)
{
    const char *colon = info.p != NULL ? memchr(info.p, ':', info.n) : NULL;
    size_t user = colon != NULL ? (size_t)(colon - info.p) : info.n;

    if (user + (colon != NULL) < info.n) {
        u->password = decode((struct span){colon + 1, info.n - user - 1});
        if (u->password == NULL)
            return refuse(why, "a % in the password of the Redis URL must be followed by two hex "
                               "digits; write a % itself as %25");
    }
    if (user == 0)
        return ERR_OK;
    u->user = decode((struct span){info.p, user});
    if (u->user == NULL)
        return refuse(why, "a % in the user of the Redis URL must be followed by two hex digits; "
                           "write a % itself as %25");
    return ERR_OK;
}

/* A whole number, nothing else; false over max. */
static bool read_number(struct span s, unsigned max, unsigned *out)
{
    unsigned v = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        v = v * 10 + (unsigned)(s.p[i] - '0');
        if (v > max)
            return false;
    }
    *out = v;
    return s.n != 0;
}

static bool is_host_name(struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        char lower = (char)(s.p[i] | 0x20);

        if (!(lower >= 'a' && lower <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9') &&
            strchr("._-", s.p[i]) == NULL)
            return false;
    }
    return s.n <= HOST_MAX;
}

static enum err read_ipv6(struct url *u, struct span host, struct buf *why)
{
    struct in6_addr ignored;

    u->host = mem_dup(host.p, host.n);
    if (inet_pton(AF_INET6, u->host, &ignored) != 1)
        return refuse(why, "what stands in [ ] in the Redis URL is no IPv6 address; write it like "
                           "[::1]");
    return ERR_OK;
}

static enum err read_port(struct url *u, struct span s, struct buf *why)
{
    unsigned port;

    if (!read_number(s, UINT16_MAX, &port) || port == 0)
        return refuse(why, "the port in the Redis URL must be a number from 1 to 65535");
    u->port = (uint16_t)port;
    return ERR_OK;
}

static enum err read_name(struct url *u, struct span s, struct buf *why)
{
    if (s.n == 0)
        return refuse(why, "the Redis URL names no host; write redis://HOST:PORT/DB");
    if (!is_host_name(s))
        return refuse(why, "the host in the Redis URL must be a name or an address: letters, "
                           "digits, dots and dashes");
    u->host = mem_dup(s.p, s.n);
    return ERR_OK;
}

static enum err read_host(struct url *u, struct span s, uint16_t port, struct buf *why)
{
    bool ipv6 = s.n != 0 && s.p[0] == '[';
    const char *close = ipv6 ? memchr(s.p, ']', s.n) : NULL;
    const char *first = memchr(s.p, ':', s.n);
    const char *colon = memrchr(s.p, ':', s.n);
    enum err e;

    if (ipv6 && (close == NULL || (close + 1 != s.p + s.n && close[1] != ':')))
        return refuse(why, "the IPv6 address in the Redis URL must be written [ADDRESS]:PORT");
    if (!ipv6 && first != colon)
        return refuse(why, "the Redis URL has more than one : after the user; write an IPv6 "
                           "address in brackets, like [::1]:6379");
    u->port = port;
    if (colon != NULL && (!ipv6 || colon > close)) {
        e = read_port(u, (struct span){colon + 1, (size_t)(s.p + s.n - colon - 1)}, why);
        if (e != ERR_OK)
            return e;
        s.n = (size_t)(colon - s.p);
    }
    return ipv6 ? read_ipv6(u, (struct span){s.p + 1, s.n - 2}, why) : read_name(u, s, why);
}

static enum err add_sentinel(struct url *u, struct span s, struct buf *why)
{
    struct url one = {.tls = false};
    enum err e = read_host(&one, s, SENTINEL_PORT, why);

    if (e == ERR_OK && u->sentinel_count == SENTINELS_MAX)
        e = refuse(why, "the Redis URL names more than 16 sentinels; a few are enough");
    if (e != ERR_OK) {
        url_fini(&one);
        return e;
    }
    u->sentinels = mem_grow(u->sentinels, (u->sentinel_count + 1) * sizeof(*u->sentinels));
    u->sentinels[u->sentinel_count++] = (struct url_host){one.host, one.port};
    return ERR_OK;
}

/* One at least: what is empty between commas names no host. */
static enum err read_sentinels(struct url *u, struct span s, struct buf *why)
{
    const char *comma;
    enum err e;

    do {
        comma = s.n > 0 ? memchr(s.p, ',', s.n) : NULL;
        e = add_sentinel(u, (struct span){s.p, comma != NULL ? (size_t)(comma - s.p) : s.n}, why);
        if (comma != NULL)
            s = (struct span){comma + 1, (size_t)(s.p + s.n - comma - 1)};
    } while (e == ERR_OK && comma != NULL);
    return e;
}

static enum err read_db(struct url *u, struct span s, struct buf *why)
{
    if (!read_number(s, DB_MAX, &u->db))
        return refuse(why, "the database in the Redis URL must be a number from 0 to 65535, like "
                           "redis://HOST:PORT/0 or unix:///PATH?db=0");
    return ERR_OK;
}

/* /name or /name/db */
static enum err read_master(struct url *u, struct span path, struct buf *why)
{
    struct span name = {path.n > 0 ? path.p + 1 : "", path.n > 0 ? path.n - 1 : 0};
    const char *slash = memchr(name.p, '/', name.n);
    size_t rest = slash != NULL ? name.n - (size_t)(slash - name.p) - 1 : 0;

    if (slash != NULL)
        name.n = (size_t)(slash - name.p);
    if (name.n == 0 || name.n > NAME_MAX_LEN || !is_host_name(name))
        return refuse(why, "the Redis URL names no primary, as its sentinels call it; write "
                           "redis+sentinel://HOST:PORT,HOST:PORT/NAME/DB");
    u->master = mem_dup(name.p, name.n);
    return rest > 0 ? read_db(u, (struct span){slash + 1, rest}, why) : ERR_OK;
}

static enum err read_path(struct url *u, const struct parts *s, struct buf *why)
{
    if (s->is_sentinel)
        return read_master(u, s->path, why);
    if (!s->is_unix)
        return s->path.n > 1 ? read_db(u, (struct span){s->path.p + 1, s->path.n - 1}, why)
                             : ERR_OK;
    if (s->host_port.n != 0)
        return refuse(why, "a unix:// URL has no host; write unix:///PATH with three slashes");
    if (s->path.n < 2)
        return refuse(why, "the unix:// URL names no socket; write unix:///PATH");
    u->path = decode(s->path);
    if (u->path == NULL)
        return refuse(why, "a % in the path of the unix:// URL must be followed by two hex digits; "
                           "write a % itself as %25");
    if (strlen(u->path) > PATH_LIMIT)
        return refuse(why, "the path of the unix:// URL is longer than the 107 bytes that a "
                           "socket's name may have");
    return ERR_OK;
}

static enum err read_ca(struct url *u, struct span value, struct buf *why)
{
    if (!u->tls)
        return refuse(why, "?ca= has a meaning for rediss:// and rediss+sentinel:// only");
    u->ca_file = decode(value);
    if (u->ca_file == NULL || u->ca_file[0] == '\0')
        return refuse(why, "?ca= in the Redis URL must name a file of certificates, with any % "
                           "written %25");
    return ERR_OK;
}

/* One parameter at most: each form of URL knows a single one. */
static enum err read_query(struct url *u, const struct parts *s, struct buf *why)
{
    const char *p = s->query.p;

    if (p == NULL || s->query.n == 0)
        return ERR_OK;
    if (memchr(p, '&', s->query.n) == NULL) {
        if (s->is_unix && starts(p, "db="))
            return read_db(u, (struct span){p + 3, s->query.n - 3}, why);
        if (!s->is_unix && starts(p, "ca="))
            return read_ca(u, (struct span){p + 3, s->query.n - 3}, why);
    }
    return refuse(why, "after the ? of a Redis URL only ca=FILE (rediss://) or db=NUMBER (unix://) "
                       "may stand");
}

enum err url_parse(struct url *u, const char *text, struct buf *why)
{
    struct parts s = {.is_unix = false};
    const char *rest = text;
    enum err e;

    *u = (struct url){.tls = false};
    e = read_scheme(u, &s, &rest, why);
    if (e == ERR_OK)
        e = split(&s, rest, why);
    if (e == ERR_OK)
        e = read_user(u, s.user_info, why);
    if (e == ERR_OK && s.is_sentinel)
        e = read_sentinels(u, s.host_port, why);
    else if (e == ERR_OK && !s.is_unix)
        e = read_host(u, s.host_port, DEFAULT_PORT, why);
    if (e == ERR_OK)
        e = read_path(u, &s, why);
    if (e == ERR_OK)
        e = read_query(u, &s, why);
    if (e != ERR_OK)
        url_fini(u);
    return e;
}

void url_fini(struct url *u)
{
    if (u->password != NULL)
        explicit_bzero(u->password, strlen(u->password));
    for (size_t i = 0; i < u->sentinel_count; i++)
        free(u->sentinels[i].host);
    free(u->sentinels);
    free(u->master);
    free(u->path);
    free(u->host);
    free(u->user);
    free(u->password);
    free(u->ca_file);
    *u = (struct url){.tls = false};
}

static void add_host(struct buf *out, const char *host, uint16_t port)
{
    bool ipv6 = strchr(host, ':') != NULL;

    buf_addf(out, "%s%s%s:%u", ipv6 ? "[" : "", host, ipv6 ? "]" : "", (unsigned)port);
}

void url_describe(struct buf *out, const struct url *u)
{
    if (u->path != NULL) {
        buf_addf(out, "unix://%s?db=%u", u->path, u->db);
        return;
    }
    buf_addf(out, "%s%s://", u->tls ? "rediss" : "redis", u->master != NULL ? "+sentinel" : "");
    for (size_t i = 0; i < u->sentinel_count; i++) {
        buf_adds(out, i > 0 ? "," : "");
        add_host(out, u->sentinels[i].host, u->sentinels[i].port);
    }
    if (u->master != NULL)
        buf_addf(out, "/%s", u->master);
    else
        add_host(out, u->host, u->port);
    buf_addf(out, "/%u", u->db);
}
