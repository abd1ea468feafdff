/* names.h - the names of the stateless dialect (2026-07-28) that more than one file spells. */
#pragma once

#define M_VERSION "2026-07-28"
#define M_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define M_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define M_META_LOG_LEVEL "io.modelcontextprotocol/logLevel"
#define M_META_SERVER "io.modelcontextprotocol/serverInfo"
#define M_META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"
#define M_TASKS "io.modelcontextprotocol/tasks"
