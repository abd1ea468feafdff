#!/usr/bin/env bash
# broken.sh RULE - shows that the gate can fail: the bad tree broken/RULE must be reported under
# exactly that rule, and broken/none under no rule at all.
set -euo pipefail

rule=$1
here=$(cd "$(dirname "$0")" && pwd)
status=0
found=$("$here/check.sh" "$here/broken/$rule" 2>/dev/null) || status=$?
rules=$(printf '%s\n' "$found" | sed 's/:.*//' | sort -u)
printf '%s\n' "$found"
if [ "$rule" = none ]; then
  [ "$status" -eq 0 ] && [ -z "$found" ]
else
  [ "$status" -eq 1 ] && [ "$rules" = "$rule" ]
fi
