/* version.h - the revisions of the handshake dialect, newest first in the table. */
#pragma once

#include "common/buf.h"
#include "common/span.h"

enum l_version { L_2025_11_25, L_2025_06_18, L_2025_03_26, L_VERSIONS, L_UNKNOWN = L_VERSIONS };

const char *l_version_name(enum l_version v);
enum l_version l_version_of(struct span text); /* L_UNKNOWN: not one of ours */
bool l_has_tasks(enum l_version v); /* tasks came with 2025-11-25 (L-11) */
void l_versions_list(struct buf *out); /* for messages: "2025-11-25, ..." */
