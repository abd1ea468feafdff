/* origin.h - which Origin and Host values are served: the guard against DNS rebinding (H-03). */
#pragma once

#include "broker/conf.h"
#include "broker/http.h"

/* NULL when the request may pass, else one sentence for its 403. An absent Origin is fine. The
 * listening address and the host of --public-url are always served as Host; with no list given,
 * loopback names are allowed beside them; "*" allows all. */
const char *origin_check(const struct conf *conf, const struct http_req *r);
