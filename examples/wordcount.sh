#!/bin/sh
# wordcount.sh FILE - lines, words and bytes of a text file, as JSON.
set -eu
. "$(dirname "$0")/lib.sh"

file=$(inside "$1" /usr/share/common-licenses /usr/share/doc "$work")
[ -f "$file" ] || fail "not a file"
wc -lwc -- <"$file" | {
  read -r lines words bytes
  printf '{"lines":%d,"words":%d,"bytes":%d}\n' "$lines" "$words" "$bytes"
}
