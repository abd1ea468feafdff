/* server/discover: revisions, capabilities, extensions (V-01); the same for everybody. */
#include "broker/m/method.h"
#include "broker/m/names.h"
#include "broker/m/render.h"
#include "broker/req.h"

void m_discover(struct req *q)
{
    struct buf members;
    struct buf out;

    buf_init(&members, 2048);
    buf_init(&out, 4096);
    buf_adds(&members, "\"supportedVersions\":");
    m_versions(&members, strcmp(q->b->conf->dialects, "both") == 0);
    buf_adds(&members, ",\"capabilities\":{\"logging\":{},\"completions\":{},"
                       "\"prompts\":{\"listChanged\":true},"
                       "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
                       "\"tools\":{\"listChanged\":true},"
                       "\"extensions\":{\"" M_TASKS "\":{}}},"
                       "\"ttlMs\":60000,\"cacheScope\":\"public\"");
    m_result(&out, buf_span(&members));
    req_result(q, buf_span(&out));
    buf_fini(&out);
    buf_fini(&members);
}
