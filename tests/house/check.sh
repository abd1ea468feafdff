#!/usr/bin/env bash
# check.sh [TREE] - the house rules that no compiler knows. One line a finding:
#
#     rule: file:line: what is wrong
#
# The rules and where their lists stand (docs/contributing.md says why each is there):
#   layer        a module includes only modules on earlier lines of tests/house/layers
#   unlisted     every module stands in tests/house/layers
#   vendor       a vendor's header is included only where tests/house/vendors allows it
#   own-header   x.c includes its own x.h before any other file
#   untested     every module and every Lua function has a test, or a reason in tests/house/untested
#   banned       no call that tests/house/banned names
#   comment      /* */ only
#   header       the first line of a header says what it is: /* name.h - what. */
#   link         a relative link of a page leads to a file
#   long-file    at most 400 lines, 600 of a test
#   long-function  at most 60 lines
set -euo pipefail
export LC_ALL=C

tree=$(cd "${1:-"$(dirname "$0")/../.."}" && pwd)
rules=$(cd "$(dirname "$0")" && pwd)
cd "$tree"
lists=tests/house

c_files() {
  find common broker worker deploy/cli tests -path tests/house/broken -prune -o \
    -path '*/node_modules' -prune -o -name '*.[ch]' -print 2>/dev/null | sort
}

# A module's test: tests/<folder>/test_<module>.c. One in a folder of its own may say so in its
# test's name: broker/l/render.c is tested by test_render.c or test_l_render.c.
has_test() { # file
  local folder=${1%%/*} name=${1##*/} inner
  [ "${1#deploy/cli/}" = "$1" ] || folder=cli
  inner=$(basename "$(dirname "$1")")
  name=${name%.*}
  [ "$inner" = lua ] && { [ -e "tests/lua/test_$name.c" ]; return; }
  [ -e "tests/$folder/test_$name.c" ] || [ -e "tests/$folder/test_${inner}_$name.c" ]
}

excused() { # file
  [ -e "$lists/untested" ] && awk -v f="$1" '$1 == f {found = 1} END {exit !found}' "$lists/untested"
}

untested() {
  local f
  while read -r f; do
    if has_test "$f"; then
      ! excused "$f" || echo "untested: $f:1: it has a test: take it off $lists/untested"
    else
      excused "$f" || echo "untested: $f:1: no test of its own, and no reason in $lists/untested"
    fi
  done < <(find common broker worker deploy/cli \( -name '*.c' -o -name '*.lua' \) 2>/dev/null | sort)
  [ -e "$lists/untested" ] || return 0
  while read -r f _; do
    case $f in '' | '#'*) continue ;; esac
    [ -e "$f" ] || echo "untested: $lists/untested:1: $f is not there"
  done <"$lists/untested"
}

links() {
  local page line target
  while IFS=: read -r page line target; do
    target=${target#*](}
    target=${target%)}
    target=${target%%#*}
    case $target in '' | *://* | mailto:*) continue ;; esac
    [ -e "$(dirname "$page")/$target" ] || echo "link: $page:$line: $target is not there"
  done < <(find . -name build -prune -o -name node_modules -prune -o -path ./tests/house/broken -prune -o \
    -name '*.md' -print0 | xargs -0 -r grep -noE '\]\([^) ]+\)' /dev/null)
}

findings=$(
  untested
  links
  mapfile -t files < <(c_files)
  ((${#files[@]} == 0)) || awk -v lists="$lists" -f "$rules/check.awk" "${files[@]}"
)
count=$(printf '%s' "$findings" | grep -c '' || true)
[ -z "$findings" ] || printf '%s\n' "$findings"
echo "house: $(c_files | wc -l) files, $count findings" >&2
[ "$count" -eq 0 ]
