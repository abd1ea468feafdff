#include "broker/arrive.h"

#include "broker/auth.h"
#include "broker/l/answer.h"
#include "broker/l/session.h"
#include "broker/m/arrive.h"
#include "broker/method.h"
#include "broker/req.h"
#include "common/metric.h"

#include <stdio.h>

static void dispatch(struct req *q)
{
    const struct method *m = q->method;

    /* A notification is never answered, whatever is wrong with it (J-07). */
    if (q->rpc.kind == RPC_RESPONSE) {
        l_answer(q);
        return;
    }
    if (q->rpc.kind == RPC_NOTIFICATION && (m == NULL || !m->notification)) {
        req_quiet(q);
        return;
    }
    if (m == NULL || m->notification != (q->rpc.kind == RPC_NOTIFICATION) ||
        (m->tasks && !l_has_tasks(q->version)) ||
        (m->begin == method_tasks_list && q->who.anonymous)) {
        req_fail(q, ERR_METHOD_NOT_FOUND);
        return;
    }
    if (!principal_may(&q->who, m->scope)) {
        char challenge[128];

        (void)snprintf(challenge, sizeof(challenge),
                       "Bearer error=\"insufficient_scope\", scope=\"%s\"", scope_name(m->scope));
        http_set_header(q->http, "WWW-Authenticate", challenge);
        req_fail(q, ERR_FORBIDDEN);
        return;
    }
    m->begin(q);
}

/* H-32: a version header must name the revision the session settled on. */
static bool version_agrees(struct req *q, enum l_version settled)
{
    const char *header = http_header(q->http, "MCP-Protocol-Version");
    char why[96];

    q->version = settled;
    if (header == NULL || l_version_of(span_of(header)) == settled)
        return true;
    (void)snprintf(why, sizeof(why), "Unsupported protocol version: this session settled on %s",
                   l_version_name(settled));
    req_fail_why(q, ERR_INVALID_REQUEST, why);
    return false;
}

static void no_session(struct req *q)
{
    struct buf *out = req_scratch(q);

    rpc_write_error(out, req_id(q), err_rpc(ERR_INVALID_REQUEST),
                    SPAN("Session not found: initialize again"), (struct span){NULL, 0});
    req_end_with(q, 404, out);
}

static void on_session(void *arg, enum err e, const struct session *s)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e == ERR_NOT_FOUND) {
        no_session(q);
        return;
    }
    if (e != ERR_OK) {
        req_fail(q, e);
        return;
    }
    if (version_agrees(q, sessions_keep(q->b->sessions, s)->version))
        dispatch(q);
}

/* Without a session only initialize is served. Whoever opens in another way is told so with a
 * code that clients of other revisions take as "fall back to initialize" (B16). */
static void without_session(struct req *q)
{
    const char *header = http_header(q->http, "MCP-Protocol-Version");
    struct buf why;

    if (q->method != NULL && q->method->begin == method_initialize && q->rpc.kind == RPC_REQUEST) {
        dispatch(q);
        return;
    }
    buf_init(&why, 256);
    if (header != NULL && l_version_of(span_of(header)) == L_UNKNOWN) {
        buf_adds(&why, "Unsupported protocol version: initialize with one of ");
        l_versions_list(&why);
    } else {
        buf_adds(&why, "a session is required: initialize first and send its Mcp-Session-Id");
    }
    req_fail_why(q, ERR_INVALID_REQUEST, buf_span(&why).p);
    buf_fini(&why);
}

static void take_session(struct req *q)
{
    const char *id = http_header(q->http, "Mcp-Session-Id");
    const struct session_copy *known;
    unsigned partition;

    if (id == NULL) {
        without_session(q);
        return;
    }
    if (!id_parse(span_of(id), store_partitions(q->b->store), &partition) ||
        partition != q->who.partition) {
        no_session(q);
        return;
    }
    memcpy(q->session, id, ID_LEN);
    known = sessions_find(q->b->sessions, span_of(q->session), span_of(q->who.owner));
    if (known != NULL) {
        if (version_agrees(q, known->version))
            dispatch(q);
        return;
    }
    req_step(q);
    session_read(q->b->store, span_of(q->session), span_of(q->who.owner), SESSION_TTL_MS,
                 on_session, q);
}

/* Z-02: per message, by what it says itself. */
static void choose_dialect(struct req *q)
{
    bool l = strcmp(q->b->conf->dialects, "m") != 0;
    bool m = strcmp(q->b->conf->dialects, "l") != 0;

    if (m && (!l || m_speaks(q)))
        m_arrive(q);
    else
        take_session(q);
}

static void read_envelope(struct req *q)
{
    struct buf why;
    enum err e;

    auth_bind(q->b->auth, q->http, &q->who);
    buf_init(&why, 256);
    e = rpc_parse(&q->rpc, http_body(q->http), &why);
    if (e != ERR_OK) {
        req_fail_why(q, e, buf_span(&why).p);
    } else {
        q->method = method_find(q->rpc.method);
        q->name = q->method != NULL ? q->method->name : "other";
        metric_add(METRIC_REQUESTS, q->name, 1);
        req_trace(q, (struct span){NULL, 0});
        choose_dialect(q);
    }
    buf_fini(&why);
}

static void refuse_credential(struct req *q, enum err e)
{
    if (e == ERR_UNAUTHORIZED)
        http_set_header(q->http, "WWW-Authenticate",
                        auth_challenge(http_header(q->http, "Authorization") != NULL));
    req_fail(q, e);
}

static void on_principal(void *arg, enum err e, const struct principal *who)
{
    struct req *q = arg;

    if (!req_back(q))
        return;
    if (e != ERR_OK) {
        refuse_credential(q, e);
        return;
    }
    q->who = *who;
    read_envelope(q);
}

void arrive(struct broker *b, struct http_req *http)
{
    struct req *q = req_new(b, http);
    enum err e;

    q->stepping = true; /* auth may take the step; undone below when it does not */
    if (!auth_check(b->auth, http, &e, &q->who, on_principal, q)) {
        req_hold(q);
        return;
    }
    q->stepping = false;
    if (e != ERR_OK)
        refuse_credential(q, e);
    else
        read_envelope(q);
}
