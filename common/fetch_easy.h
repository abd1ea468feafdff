/* fetch_easy.h - a handle of curl's as all our requests want it. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

/* Only http and https, no signals, no .netrc, and no proxy to this machine. why gets curl's words
 * and outlives the handle; url is copied. */
CURL *fetch_easy(const char *url, char why[CURL_ERROR_SIZE]);
/* An option whose value is a number: one that curl does not take ends the process. */
void fetch_easy_set(CURL *easy, CURLoption option, long value);
/* The host of the URL is this machine by its name or number. */
bool fetch_easy_is_here(const char *url);
