#include "broker/origin.h"

#include "common/cfg.h"

#include <string.h>
#include <strings.h>

static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};

/* "host" or "host:port" without its port. An IPv6 address keeps its brackets. */
static struct span host_of(const char *text)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strchr(text, ':');

    if (end == NULL)
        return span_of(text);
    return (struct span){text, (size_t)(end - text) + (text[0] == '[' ? 1U : 0U)};
}

static bool same_name(struct span a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

static bool is_loopback(struct span host)
{
    for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
        if (same_name(host, loopback[i]))
            return true;
    return false;
}

static bool listed(const struct cfg_list *list, const char *whole, struct span host)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->items[i];

        if (strcmp(item, "*") == 0 || strcasecmp(item, whole) == 0 || same_name(host, item) ||
            (strcmp(item, "loopback") == 0 && is_loopback(host)))
            return true;
    }
    return false;
}

static bool origin_allowed(const struct conf *conf, const char *origin)
{
    const char *scheme = strstr(origin, "://");
    struct span host = scheme != NULL ? host_of(scheme + 3) : (struct span){"", 0};

    return listed(&conf->origins, origin, host);
}

/* The host of --public-url, on any port: a proxy may listen on its own and tell another. */
static bool is_public(const char *url, struct span host)
{
    struct span name;
    size_t end;

    if (url == NULL)
        return false;
    name = host_of(strstr(url, "://") + 3);
    end = strcspn(name.p, "/");
    if (end < name.n)
        name.n = end;
    return host.n == name.n && strncasecmp(host.p, name.p, name.n) == 0;
}

static bool host_allowed(const struct conf *conf, const char *host)
{
    struct span name = host_of(host);

    return strcasecmp(host, conf->listen) == 0 || is_public(conf->public_url, name) ||
           listed(&conf->hosts, host, name);
}

const char *origin_check(const struct conf *conf, const struct http_req *r)
{
    const char *origin = http_header(r, "Origin");
    const char *host = http_header(r, "Host");

    if (origin != NULL && !origin_allowed(conf, origin))
        return "this Origin is not allowed: see --origins";
    if (host != NULL && !host_allowed(conf, host))
        return "this Host is not allowed: see --hosts";
    return NULL;
}
