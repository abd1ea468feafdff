#!/usr/bin/env bash
# run.sh - clients of other people against the built programs. Ends with the plain line of counts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

status=0
"$here/install.sh" || status=$?
[ "$status" -eq 0 ] || exit "$status"
# The packages want a newer Node than Debian 12 has; it comes with them.
PATH=$here/../../build/node/node_modules/node/bin:$PATH
export PATH
exec "$here/../node.sh" "$here"/*.test.mjs
