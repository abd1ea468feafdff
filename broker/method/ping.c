/* ping: an empty result, at once (U-01). */
#include "broker/method.h"
#include "broker/req.h"

void method_ping(struct req *q)
{
    req_result(q, SPAN("{}"));
}
