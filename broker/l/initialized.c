/* notifications/initialized: the handshake is over. Accepted at once; that the mark is late or
 * lost hurts nobody. */
#include "broker/method.h"
#include "broker/req.h"
#include "common/store_session.h"

static void on_marked(void *arg, enum err e)
{
    (void)arg;
    (void)e;
}

void method_initialized(struct req *q)
{
    session_initialized(q->b->store, span_of(q->session), on_marked, NULL);
    req_quiet(q);
}
