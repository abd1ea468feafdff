#!/bin/sh
# checksum.sh NAME MEGABYTES - the SHA-256 of a large file in the work folder, which is filled with
# random bytes first where it is missing.
set -eu
. "$(dirname "$0")/lib.sh"

name=$1
megabytes=$2
case $name in
  '' | .* | -* | *[!A-Za-z0-9._-]*) fail "name: letters, digits, dots, dashes and underscores" ;;
esac
case $megabytes in
  '' | *[!0-9]* | ?????*) fail "megabytes: a number from 1 to 9999" ;;
esac

file=$work/$name
if [ ! -e "$file" ]; then
  progress 0 "$megabytes" "making the file"
  head -c "${megabytes}M" /dev/urandom >"$file.$$"
  mv -- "$file.$$" "$file"
fi

total=$((($(stat -c %s -- "$file") + 1048575) / 1048576))
read_with_progress() {
  at=0
  while [ "$at" -lt "$total" ]; do
    progress "$at" "$total" "reading"
    dd if="$file" bs=1M skip="$at" count=8 status=none
    at=$((at + 8))
  done
  progress "$total" "$total" "read"
}
sum=$(read_with_progress | sha256sum)
printf '%s  %s (%s MB)\n' "${sum%% *}" "$name" "$total"
