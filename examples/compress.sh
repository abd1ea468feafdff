#!/bin/sh
# compress.sh FOLDER METHOD - packs a folder into an archive in the work folder.
set -eu
. "$(dirname "$0")/lib.sh"

folder=$(inside "$1" /usr/share "$work")
[ -d "$folder" ] || fail "not a folder"
case $2 in
  gzip) suffix=gz ;;
  xz) suffix=xz ;;
  *) fail "method: gzip or xz" ;;
esac
command -v "$2" >/dev/null || fail "$2 is not installed"

scratch=$(mktemp -d "$work/compress.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
total=$(find "$folder" | wc -l)
step=$(((total + 19) / 20))

# tar names each entry as it packs it: one line, one step.
{
  tar -cvf "$scratch/archive.tar" -C "$(dirname -- "$folder")" -- "$(basename -- "$folder")" ||
    : >"$scratch/failed"
} | {
  packed=0
  while read -r _; do
    packed=$((packed + 1))
    [ $((packed % step)) -ne 0 ] || progress "$packed" "$total" "packing"
  done
}
[ ! -e "$scratch/failed" ] || fail "tar could not read all of it"
progress "$total" "$total" "compressing with $2"
before=$(stat -c %s -- "$scratch/archive.tar")
"$2" "$scratch/archive.tar"
archive=$work/$(basename -- "$folder").tar.$suffix
mv -- "$scratch/archive.tar.$suffix" "$archive"
printf '%s: %s entries, %s bytes packed into %s\n' "$archive" "$total" "$before" \
  "$(stat -c %s -- "$archive")"
