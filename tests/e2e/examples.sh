#!/usr/bin/env bash
# examples.sh - the example tools by themselves: what they answer, and what they refuse.
set -uo pipefail
cd "$(dirname "$0")/../../examples" || exit 1

EXAMPLES_DIR=$(mktemp -d)
export EXAMPLES_DIR
trap 'rm -rf "$EXAMPLES_DIR"' EXIT
passed=0 failed=0

check() { # claim command...
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}

answers() { # pattern command...
  "${@:2}" 2>/dev/null | grep -qE "$1"
}

refuses() { # command...
  local out
  out=$("$@" 2>/dev/null) && return 1
  [ -z "$out" ]
}

same_sum() {
  local want
  want=$(sha256sum "$EXAMPLES_DIR/a.bin") || return 1
  answers "^${want%% *}  a\.bin \(3 MB\)$" ./checksum.sh a.bin 3
}

reports_progress() {
  ./checksum.sh a.bin 3 3>"$EXAMPLES_DIR/reports" >/dev/null || return 1
  grep -q '"method":"notifications/progress".*"progress":3,"total":3' "$EXAMPLES_DIR/reports"
}

printf 'one two\nthree\n' >"$EXAMPLES_DIR/-n"
mkdir "$EXAMPLES_DIR/--help"
ln -s /etc/passwd "$EXAMPLES_DIR/link"

check "a missing file is made and summed" answers '^[0-9a-f]{64}  a\.bin \(3 MB\)$' ./checksum.sh a.bin 3
check "the sum is sha256sum's" same_sum
check "progress reaches descriptor 3" reports_progress
check "a name that climbs is refused" refuses ./checksum.sh ../a.bin 3
check "a name that looks like an option is refused" refuses ./checksum.sh -x 3
check "a size that is no number is refused" refuses ./checksum.sh b.bin '1;id'
check "words are counted" answers '^\{"lines":2,"words":3,"bytes":14\}$' ./wordcount.sh "$EXAMPLES_DIR/-n"
check "a file elsewhere is refused" refuses ./wordcount.sh /etc/passwd
check "a link to elsewhere is refused" refuses ./wordcount.sh "$EXAMPLES_DIR/link"
check "a path that climbs is refused" refuses ./wordcount.sh "$EXAMPLES_DIR/../../etc/passwd"
check "an option in place of a file is refused" refuses ./wordcount.sh --help
check "a folder named like an option is packed" answers 'help.tar.gz: 1 entries' ./compress.sh "$EXAMPLES_DIR/--help" gzip
check "the archive is whole" gzip -t -- "$EXAMPLES_DIR/--help.tar.gz"
check "an unknown method is refused" refuses ./compress.sh "$EXAMPLES_DIR/--help" sh
check "a folder elsewhere is refused" refuses ./compress.sh /etc gzip

# A job API, and a tool that is a job there.
if ! command -v python3 >/dev/null; then
  echo "skipped: the example of a job API needs python3"
  echo "$passed passed, $failed failed, 1 skipped"
  [ "$failed" -eq 0 ]
  exit
fi
mkfifo "$EXAMPLES_DIR/api"
python3 ./batch.py 0 >"$EXAMPLES_DIR/api" &
api=$!
trap 'kill "$api"; rm -rf "$EXAMPLES_DIR"' EXIT
read -r BATCH_URL <"$EXAMPLES_DIR/api"
export BATCH_URL
check "a report is printed elsewhere" answers '^a report of 3 pages$' \
  "${ERRAND_BIN:-../build/bin}/errand" tools check batch.json --run report '{"pages":3}'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
