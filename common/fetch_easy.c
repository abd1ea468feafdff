#include "common/fetch_easy.h"

#include "common/span.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void fetch_easy_set(CURL *easy, CURLoption option, long value)
{
    if (curl_easy_setopt(easy, option, value) != CURLE_OK)
        abort();
}

static bool is_word(struct span host, const char *word)
{
    return host.n == strlen(word) && strncasecmp(host.p, word, host.n) == 0;
}

bool fetch_easy_is_here(const char *url)
{
    const char *at = strstr(url, "//");
    struct span host;
    const char *user;

    if (at == NULL)
        return false;
    host = (struct span){at + 2, strcspn(at + 2, "/?#\\")};
    user = memrchr(host.p, '@', host.n);
    if (user != NULL)
        host = (struct span){user + 1, host.n - (size_t)(user + 1 - host.p)};
    if (host.n > 4 && strncmp(host.p, "[::1]", 5) == 0)
        return host.n == 5 || host.p[5] == ':';
    if (memchr(host.p, ':', host.n) != NULL)
        host.n = (size_t)((const char *)memchr(host.p, ':', host.n) - host.p);
    if (is_word(host, "localhost"))
        return true;
    return host.n > 4 && strncmp(host.p, "127.", 4) == 0 && strspn(host.p, "0123456789.") >= host.n;
}

CURL *fetch_easy(const char *url, char why[CURL_ERROR_SIZE])
{
    CURL *e = curl_easy_init();

    if (e == NULL)
        abort();
    (void)curl_easy_setopt(e, CURLOPT_URL, url);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_USERAGENT, "errand/" ERRAND_VERSION);
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, why);
    (void)curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    if (fetch_easy_is_here(url))
        (void)curl_easy_setopt(e, CURLOPT_PROXY, "");
    fetch_easy_set(e, CURLOPT_NOSIGNAL, 1);
    fetch_easy_set(e, CURLOPT_TCP_KEEPALIVE, 1);
    return e;
}
