# shellcheck shell=bash
# stages.sh - what ./dev test does, one function a stage; sourced by dev, whose functions it uses.
#
# A stage writes build/test-logs/<stage>.log and leaves its counts in $passed, $failed, $skipped.
# A test program reports its own tests on a plain line "N passed, N failed[, N skipped]" (with or
# without "tests: " before it); a gate counts as one. What this machine cannot run is counted as
# skipped, with its reason.

logs=build/test-logs
total_passed=0 total_failed=0 total_skipped=0

# They find the same in a text on every machine only in one version of the tool.
llvm_pinned=14
cppcheck_pinned=2.10

run_stages() {
  mkdir -p "$logs"
  rm -f "$logs"/*
  case ${1:-all} in
    all) stages_all ;;
    --quick) stages_quick ;;
    --deploy) stage deploy run_script tests/deploy/run.sh ;;
    *) stages_filter "$1" ;;
  esac
  printf '%s passed, %s failed, %s skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  [ "$total_failed" -eq 0 ]
}

stages_quick() {
  gate build-dev build dev -k 0
  stage tests run_ctest build
  gate house tests/house/check.sh
}

stages_filter() {
  gate build-dev build dev -k 0
  stage tests run_ctest build -R "$1"
}

# The packages come first: with them every message of an e2e test is held against the schemas.
stages_all() {
  tests/interop/install.sh >"$logs/install.log" 2>&1 || say "no npm packages: $(tail -n 1 "$logs/install.log")"
  stages_quick
  gate format check_format
  gate shellcheck check_shell
  gate walk ./dev run --once
  stage model run_script tests/model/run.sh
  gate build-asan build asan -k 0
  # The walk is Redis' work: of its seeds some are enough for the sanitizers.
  ERRAND_WALK_SEEDS=1-10 stage tests-asan run_ctest build/asan
  gate cppcheck check_cppcheck
  gate clang-tidy check_tidy
  stage valgrind run_valgrind
  stage interop run_script tests/interop/run.sh
  stage deploy run_script tests/deploy/run.sh
}

# --- counting --------------------------------------------------------------------------------

# Status 77 is "cannot be run here"; the log's last line that starts with "skipped:" says why.
gate() { # name command...
  stage "$1" as_gate "${@:2}"
}

as_gate() {
  local status=0
  "$@" || status=$?
  case $status in
    0) count 1 0 0 ;;
    77) count 0 0 1 ;;
    *) count 0 1 0 ;;
  esac
}

count() { # passed failed skipped
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

skip() { # reason
  echo "skipped: $*"
  return 77
}

# The command must be a function that calls count; set -e does not reach into it.
stage() { # name command...
  local name=$1 start=$SECONDS
  passed=0 failed=0 skipped=0
  "${@:2}" >"$logs/$name.log" 2>&1 || true
  ((passed + failed + skipped > 0)) || failed=1
  printf '%-12s %5d passed, %d failed, %d skipped  (%d s)\n' \
    "$name" "$passed" "$failed" "$skipped" $((SECONDS - start))
  ((skipped == 0)) || grep -h '^skipped: ' "$logs/$name.log" | sort -u | sed 's/^/    /'
  ((failed == 0)) || show_failure "$logs/$name.log"
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  total_skipped=$((total_skipped + skipped))
}

# What is worth a look first: errors of compilers and checkers and failed tests, with what follows
# them, else the end.
show_failure() { # log
  echo "    see $1"
  { grep -E -A 5 '(^|[: ])(error|FAILED|FAIL|failures)[: ]|^== ' "$1" | cut -c -300 | head -n 80 | grep . ||
    tail -n 40 "$1"; } | sed 's/^/    | /'
}

# The last line of counts in a log: "P F S", or nothing.
counts_of() { # log
  awk '{sub(/^tests: /, "")}
       /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {p = $1; f = $3; s = $5 + 0; any = 1}
       END {if (any) print p, f, s}' "$1"
}

# A program by itself: its own line of counts, or its exit status as one test.
count_program() { # status log
  local p=0 f=0 s=0
  if [ "$1" -eq 77 ]; then
    count 0 0 1
    return
  fi
  read -r p f s < <(counts_of "$2"; echo) || true
  if [ -z "$p" ]; then
    if [ "$1" -eq 0 ]; then count 1 0 0; else count 0 1 0; fi
  else
    [ "$1" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    count "$p" "$f" "$s"
  fi
}

# --- stages ----------------------------------------------------------------------------------

# Most tests wait most of the time, so there are twice as many at once as cores.
run_ctest() { # build folder, ctest options
  local p f s log
  log=$logs/ctest-$(basename "$1").txt
  ctest --test-dir "$1" -j$((2 * $(nproc))) -V --no-tests=error "${@:2}" >"$log" 2>&1 || true
  read -r p f s < <(awk -f tests/ctest.awk "$log")
  count "$p" "$f" "$s"
  awk -v show=1 -f tests/ctest.awk "$log"
}

run_script() { # script
  local status=0
  [ -x "$1" ] || { skip "there is no $1"; count 0 0 1; return; }
  timeout -k 60 1200 "$1" >"$logs/$(basename "$1").txt" 2>&1 || status=$?
  cat "$logs/$(basename "$1").txt"
  [ "$status" -ne 124 ] || echo "ended after 20 minutes"
  count_program "$status" "$logs/$(basename "$1").txt"
}

# Uninitialised reads and leaks in the parts; the sanitizers see the rest.
run_valgrind() {
  local program
  find build/tests -maxdepth 1 -type f \( -name 'test_common_*' -o -name 'test_lua_*' \) | sort >"$logs/valgrind.list"
  grep -vxFf <(sed 's/#.*//; s/ .*//; s|^|build/tests/|' tests/house/no-valgrind) "$logs/valgrind.list" |
    xargs -P2 -I{} tests/valgrind.sh {} "$logs" || true
  while read -r program; do
    program=$(basename "$program")
    if [ -e "$logs/$program.status" ]; then
      count_program "$(cat "$logs/$program.status")" "$logs/$program.valgrind"
      [ "$(cat "$logs/$program.status")" -eq 0 ] || { echo "== $program"; cat "$logs/$program.valgrind"; }
    else
      count 0 0 1
      echo "skipped: $program: $(sed -n "s/^$program *# *//p" tests/house/no-valgrind)"
    fi
  done <"$logs/valgrind.list"
}

c_sources() { # extensions
  git ls-files "$@" ':!tests/house/broken'
}

llvm_is_pinned() { # tool
  local major
  major=$("$1" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1)
  [ "$major" = "$llvm_pinned" ] || skip "$1 here is $major; its verdict is that of $llvm_pinned"
}

check_format() {
  llvm_is_pinned clang-format || return
  c_sources '*.c' '*.h' | xargs clang-format --dry-run --Werror
}

# By their first line: a page of documentation may show a script.
check_shell() {
  local file
  git ls-files | while read -r file; do
    if [[ $(head -n 1 "$file" | tr -d '\0') =~ ^('#!'(/usr/bin/env (ba)?sh|/bin/(ba)?sh)|'# shellcheck shell=') ]]; then
      echo "$file"
    fi
  done | xargs shellcheck
}

# The compile commands of the clang build: clang-tidy does not know gcc's warnings. A file is read
# again only when it, a header or the list of checks is newer than its last clean reading.
check_tidy() {
  local file stamp newest todo=()
  llvm_is_pinned clang-tidy || return
  mkdir -p build/tidy
  newest=$(c_sources '*.h' '*.def' .clang-tidy | xargs ls -t | head -n 1)
  while read -r file; do
    stamp=build/tidy/${file//\//_}
    [ -e "$stamp" ] && [ "$stamp" -nt "$file" ] && [ "$stamp" -nt "$newest" ] || todo+=("$file")
  done < <(c_sources 'common/*.c' 'broker/*.c' 'worker/*.c' 'deploy/cli/*.c')
  ((${#todo[@]} > 0)) || return 0
  # shellcheck disable=SC2016 # the inner shell expands them
  printf '%s\n' "${todo[@]}" | xargs -P2 -I{} bash -c \
    'clang-tidy -p build/asan --quiet --warnings-as-errors="*" "$1" 2>/dev/null && touch "build/tidy/${1//\//_}"' _ {} |
    grep -E '(warning|error): ' | sort -u
  [ "${PIPESTATUS[1]}" -eq 0 ]
}

check_cppcheck() {
  local version
  version=$(cppcheck --version | sed 's/.* //')
  if [ "$version" != "$cppcheck_pinned" ]; then
    skip "cppcheck here is $version; its verdict is that of $cppcheck_pinned"
    return
  fi
  mkdir -p build/cppcheck
  cppcheck --project=build/asan/compile_commands.json --cppcheck-build-dir=build/cppcheck -j2 -q -itests -ibuild \
    --enable=warning,performance,portability,style --inline-suppr --std=c11 \
    --include=tests/house/cppcheck.h --suppressions-list=tests/house/cppcheck --error-exitcode=1
}
