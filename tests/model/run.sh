#!/usr/bin/env bash
# run.sh [--deep] - checks task.pml with spin: no scenario shows a mistake, and each mistake that the
# model can be given shows in the scenario that is named beside it. --deep: one fault more, which
# takes many minutes. The last line is: N passed, N failed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "skipped: the model needs $tool"; exit 77; }
done
more=0
[ "${1:-}" != --deep ] || more=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sizes() { # scenario
  case $1 in
    one)   echo WAITERS=0 FAULTS=$((3 + more)) ;;                               # one task, two workers
    two)   echo WAITERS=0 FAULTS=$((1 + more)) TASKS=2 LIMIT=1 ASKS=0 ;;        # one waits for the other's place
    alone) echo WAITERS=1 WORKERS=1 FAULTS=$((2 + more)) ASKS=0 RELEASES=0 ;;   # one waits for the result
    pair)  echo WAITERS=2 WORKERS=1 FAULTS=$((1 + more)) ASKS=0 RELEASES=0 ATTEMPTS=1 EXPIRIES=0 ;;
    whole) echo WAITERS=2 FAULTS=$((1 + more)) ASKS=0 RELEASES=0 EXPIRIES=0 ;;
    crowd) echo WAITERS=2 WORKERS=1 FAULTS=$more CROWD=1 ASKS=0 RELEASES=0 ATTEMPTS=1 EXPIRIES=0 ;;
  esac
}

# What holds: scenario property.
right='one safety
two safety
pair safety
whole safety
one ends
two ends
alone answered
pair answered
crowd answered'

# Runs one scenario: 0 when spin saw everything and found nothing, 1 when it found an error.
look() { # scenario property broken
  local log=$work/$1-$2-$3 program=("$work/live" -a -f -N "$2")
  mkdir "$log"
  [ "$2" != safety ] || program=("$work/safety")
  # shellcheck disable=SC2046 # words
  (cd "$log" && env $(sizes "$1") BROKEN="$3" timeout 600 "${program[@]}" -n -m1000000 >out 2>&1) || true
  if grep -q 'errors: 0$' "$log/out" && ! grep -q 'reached -DMEMLIM\|max search depth too small' "$log/out"; then
    return 0
  fi
  grep -q 'errors: [1-9]' "$log/out" && return 1
  cat "$log/out"
  return 2
}

figures() { # scenario property broken
  sed -n 's/^pan:1: \(.*\) (at depth.*/\1:/p; s/^ *\([0-9e.+]*\) states, stored.*/\1 states/p; s/^pan: elapsed time \(.*\) seconds/in \1 s/p' "$work/$1-$2-$3/out" | paste -sd' '
}

one_look() { # expected scenario property broken name
  local status=0
  look "$2" "$3" "$4" || status=$?
  if [ "$status" -eq "$1" ]; then
    echo "ok: $5: $2 $3: $(figures "$2" "$3" "$4")"
  else
    echo "FAIL: $5: $2 $3: status $status, not $1: $(figures "$2" "$3" "$4")"
    grep -h 'assertion violated\|acceptance cycle\|invalid end' "$work/$2-$3-$4/out" || true
  fi
}

cd "$work"
spin -a "$here/task.pml" >spin.log || { cat spin.log; exit 1; }
# Not optimised: the compiler would take longer than the search.
gcc -w -DSAFETY -DNOCLAIM -DCOLLAPSE -DMEMLIM=1500 -o safety pan.c &
gcc -w -DNFAIR=5 -DCOLLAPSE -DMEMLIM=1500 -o live pan.c
wait

todo() {
  sed 's/^/0 /; s/$/ 0 holds/' <<<"$right" | sort -r
  sed -n 's|^#define \([A-Z_]*\) *\([0-9]*\) */\* \([a-z]*\) \([a-z]*\): .*|1 \3 \4 \2 \1|p' "$here/task.pml"
}
export -f look one_look sizes figures
export work more
jobs=$(todo)
[ "$(grep -c ^1 <<<"$jobs")" -ge 20 ] || { echo "FAIL: the mistakes are not listed as they should be"; exit 1; }
# shellcheck disable=SC2016 # the inner shell expands them
xargs -P2 -L1 bash -c 'set -u; one_look "$@"' _ <<<"$jobs" | tee result
passed=$(grep -c ^ok result || true)
failed=$(($(wc -l <<<"$jobs") - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
