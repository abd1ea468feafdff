#!/usr/bin/env bash
# install.sh - brings the pinned packages of package.json to build/node, once for each version of it.
# Ends with status 77 where the registry cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
to=$here/../../build/node

if cmp -s "$here/package.json" "$to/installed.json"; then
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "skipped: npm is not installed"
  exit 77
fi
mkdir -p "$to"
cp "$here/package.json" "$to/package.json"
if ! npm install --prefix "$to" --no-audit --no-fund --no-package-lock --loglevel=error; then
  echo "skipped: the npm registry cannot be reached"
  exit 77
fi
cp "$here/package.json" "$to/installed.json"
