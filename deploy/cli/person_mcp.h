/* person_mcp.h - the person, asked by a broker. */
#pragma once

#include "deploy/cli/mcp.h"
#include "deploy/cli/person.h"

/* person_new() for what comes over m; before mcp_open(). person_note is its mcp_note_fn. */
struct person *person_of_mcp(struct mcp *m, const struct conf *c, const char *what, bool stands_in);
