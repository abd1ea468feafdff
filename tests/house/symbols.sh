#!/bin/sh
# symbols.sh BUILD - a function is defined in one of the libraries that one program is linked from, or
# the linker would take whichever comes first. Only the options are each program's own.
set -eu
nm --defined-only --extern-only "$1/deploy/cli/liberrandcli.a" "$1/worker/liberrandworker.a" \
  "$1/common/liberrandcommon.a" 2>/dev/null |
  awk 'NF == 3 && $3 !~ /^conf_(read|fini|table)$|^_*asan|^_*odr|^__/ { print $3 }' | sort | uniq -d |
  awk '{ print "defined twice: " $0; n++ } END { print n + 0 " findings"; exit n > 0 }'
