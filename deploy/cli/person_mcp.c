#include "deploy/cli/person_mcp.h"

static void answer(void *arg, struct span id, const char *member, struct span value)
{
    mcp_answer(arg, id, member, value);
}

static bool is_answering(void *arg)
{
    return mcp_is_answering(arg);
}

static void listen_to(void *arg, int fd)
{
    mcp_listen(arg, fd);
}

static void gone(void *arg)
{
    static const struct mcp_peer nobody;

    mcp_set_peer(arg, &nobody);
}

struct person *person_of_mcp(struct mcp *m, const struct conf *c, const char *what, bool stands_in)
{
    const struct person_host host = {.answer = answer,
                                     .is_answering = is_answering,
                                     .listen = listen_to,
                                     .gone = gone,
                                     .arg = m};
    struct person *p = person_new(&host, c, what, stands_in);
    const struct mcp_peer peer = {.capabilities = person_answers(p) ? PERSON_CAPABILITIES : NULL,
                                  .request = person_asked,
                                  .turn = person_turn,
                                  .arg = p};

    mcp_set_peer(m, &peer);
    return p;
}
