#include "common/fetch_easy.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

TEST(a_url_is_of_this_machine_by_its_whole_host)
{
    static const char *const here[] = {
        "http://127.0.0.1",      "http://127.0.0.1:8080/mcp", "https://127.8.9.1/x",
        "http://localhost/",     "http://LocalHost:1/",       "http://[::1]",
        "http://[::1]:8080/mcp", "http://u:p@127.0.0.1/",     "http://localhost?x",
    };
    static const char *const elsewhere[] = {
        "http://127.0.0.1.example/",
        "http://127.example/",
        "http://localhost.example/",
        "http://example/127.0.0.1",
        "http://[::12]/",
        "http://[::1",
        "http://127.0.0.1@example/",
        "http://example//localhost",
        "localhost",
        "http://",
        "",
    };

    for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
        CHECK(fetch_easy_is_here(here[i]));
        if (!fetch_easy_is_here(here[i]))
            printf("%s\n", here[i]);
    }
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        CHECK(!fetch_easy_is_here(elsewhere[i]));
        if (fetch_easy_is_here(elsewhere[i]))
            printf("%s\n", elsewhere[i]);
    }
}

TEST(a_handle_has_its_url_and_only_the_web)
{
    char why[CURL_ERROR_SIZE] = "";
    CURL *e = fetch_easy("file:///etc/hostname", why);
    const char *url = NULL;

    CHECK(curl_easy_getinfo(e, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK);
    CHECK(url != NULL && strcmp(url, "file:///etc/hostname") == 0);
    CHECK(curl_easy_perform(e) == CURLE_UNSUPPORTED_PROTOCOL);
    CHECK(why[0] != '\0');
    curl_easy_cleanup(e);
}
