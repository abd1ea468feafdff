#!/usr/bin/env bash
# node.sh FILE...: runs test files of Node's own runner; ends with the plain line of counts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v node >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'; then
  echo "skipped: $(basename "$1"): needs Node 18 or later"
  exit 77
fi
ERRAND_BIN=${ERRAND_BIN:-$here/../build/bin}
export ERRAND_BIN
exec node --test --test-reporter="$here/lib/report.mjs" --test-reporter-destination=stdout "$@"
