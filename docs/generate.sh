#!/usr/bin/env bash
# generate.sh [--check] [BIN] - writes the pages of docs/ that the programs make themselves, or only
# compares them. BIN is where the programs are: build/bin.
set -euo pipefail
export LC_ALL=C

check=0
if [ "${1-}" = --check ]; then
  check=1
  shift
fi
docs=$(cd "$(dirname "$0")" && pwd)
bin=${1-$docs/../build/bin}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

# The variables of whoever runs this must not matter.
for name in $(compgen -e ERRAND_ || true); do unset "$name"; done

config() {
  cat <<'END'
# Configuration

Every option has one name and three places: the flag `--max-ttl 24h`, the variable
`ERRAND_MAX_TTL=24h`, and the member `"max-ttl": "24h"` of the JSON file that `--config` names. A
flag beats the environment, which beats the file, which beats the default. An empty variable counts
as absent.

| written | as |
|---|---|
| TIME | a whole number and `ms`, `s`, `m`, `h` or `d`: `500ms`, `10s`, `5m`, `24h`, `7d`; `0` needs no unit |
| SIZE | bytes, or a whole number and `k`, `m` or `g` (of 1024): `512`, `64k`, `16m`, `1g` |
| RATE | a whole number and `/s`, `/m` or `/h`: `5/s`, `300/m`, `10/h`; kept as whole calls per 1000 s |
| NUMBER | a whole number |
| on or off | the flag alone is on; `--facade=off`; in the file `true`, `false`, `"on"` or `"off"` |
| A,B,... | commas between the items; the flag may be repeated; in the file an array of strings |

A mistake ends the program at its start with status 2 and one line: where the value stands, what is
wrong with it, and what would be right. Options of what is not there yet are refused like a mistake.

END
  for program in errand-broker errand-worker errand; do
    "$bin/$program" --docs config
  done
}

config | sed '$d' >"$new/config.md" # one empty line less, at the end
"$bin/errand-broker" --docs events >"$new/events.md"
"$bin/errand-broker" --docs metrics >"$new/metrics.md"
"$bin/errand" --docs commands >"$new/commands.md"
"$bin/errand-broker" --docs methods >"$new/methods.md"

# What the tests say they prove; their scan needs Node.
status=0
if command -v node >/dev/null; then
  if [ $check = 1 ]; then
    node "$docs/../tests/rows/generate.mjs" --check >&2 || status=1
  else
    node "$docs/../tests/rows/generate.mjs" >&2 || status=1
  fi
else
  echo "conformance.md was passed over: it needs node" >&2
fi
for page in "$new"/*.md; do
  name=$(basename "$page")
  if [ $check = 0 ]; then
    cp "$page" "$docs/$name"
  elif ! diff -u "$docs/$name" "$page"; then
    echo "docs/$name is not what the programs print: run ./dev docs" >&2
    status=1
  fi
done
exit $status
