#!/usr/bin/env bash
# run.sh [--quick] [--rounds N] [--only WORD] - measures the programs in $ERRAND_BIN beside their
# peers and prints tables. ./dev bench builds a release and calls this; docs/performance.md says how
# to read them. What the npm registry does not bring is left out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export ERRAND_BIN=${ERRAND_BIN:-$here/../../build/release/bin}

command -v node >/dev/null || { echo "bench: Node is needed" >&2; exit 2; }
peers=()
"$here/../interop/install.sh" >&2 || peers=(--no-peers)
exec node "$here/bench.mjs" ${peers[@]+"${peers[@]}"} "$@"
