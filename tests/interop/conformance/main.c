/* errand-conformance: a worker with the tools that the official conformance suite of MCP expects of
 * a server under test, one file a kind. It takes the options of errand-worker but --tools. */
#include "tests/interop/conformance/kit.h"

#include <stdlib.h>
#include <string.h>

static const struct tool_list *const lists[] = {
    &content_tools, &telling_tools, &asking_tools, &round_tools, &task_tools, &change_tools,
};

static struct errand_tool *all_tools(size_t *count)
{
    struct errand_tool *all;

    *count = 0;
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        *count += lists[i]->count;
    all = malloc(*count * sizeof(*all));
    if (all == NULL)
        abort();
    *count = 0;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        memcpy(all + *count, lists[i]->tools, lists[i]->count * sizeof(*all));
        *count += lists[i]->count;
    }
    return all;
}

int main(int argc, char **argv)
{
    struct errand_tool *all;
    size_t count;
    int status;

    change_remember(argv);
    if (change_is_second())
        return change_main(argc, argv);
    all = all_tools(&count);
    status = errand_worker_main(argc, argv, all, count);
    free(all);
    return status;
}
