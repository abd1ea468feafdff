#!/usr/bin/env bash
# run.sh [--once] - a private Redis, one broker and one worker with the example tools; one task walks
# through them on the screen. What ./dev run does once everything is built.
#
# Everything lives in a temporary folder of its own and ends, by process id, with this script.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
bin=${ERRAND_BIN:-$top/build/bin}
once=${1:-}
case $once in '' | --once) ;; *) echo "usage: run.sh [--once]" >&2; exit 2 ;; esac

dir=$(mktemp -d "${TMPDIR:-/tmp}/errand-run.XXXXXX")
pids=()

say() { printf '\n== %s\n' "$*"; }

# The worker first, so that it can still hand back what it holds; Redis last.
end_all() {
  local i pid
  trap '' INT TERM
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    pid=${pids[i]}
    kill -TERM "$pid" 2>/dev/null || true
    for _ in {1..100}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.05
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  wait
  rm -rf "$dir"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
  printf 'run: %s\n' "$*" >&2
  tail -n 20 "$dir"/*.log >&2 || true
  exit 1
}

# In a session of its own, so that Ctrl-C reaches this script alone and the order of ending holds.
start() { # name command...
  setsid "${@:2}" >"$dir/$1.log" 2>&1 </dev/null &
  pids+=($!)
}

wait_for() { # what command...
  for _ in {1..200}; do
    if "${@:2}" >/dev/null 2>&1; then return; fi
    kill -0 "${pids[-1]}" 2>/dev/null || die "$1: it ended"
    sleep 0.05
  done
  die "$1: not within 10 seconds"
}

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

port=8080
while is_taken "$port"; do port=$((port + 1)); done
url=http://127.0.0.1:$port/mcp
redis=unix://$dir/redis.sock

say "starting Redis, a broker and a worker"
start redis "$(command -v redis-server || command -v valkey-server)" "$top/deploy/redis.conf" \
  --port 0 --unixsocket "$dir/redis.sock" --dir "$dir" --logfile "$dir/redis.log"
wait_for redis test -S "$dir/redis.sock"
start broker "$bin/errand-broker" --redis "$redis" --listen "127.0.0.1:$port"
wait_for broker curl -fsS "http://127.0.0.1:$port/readyz"
cd "$here"
EXAMPLES_DIR=$dir/files start worker "$bin/errand-worker" --redis "$redis" --tools "$here/tools.json" --slots 4
has_tools() { "$bin/errand" tools --url "$url" | grep -q checksum; }
wait_for worker has_tools
echo "broker $url (pid ${pids[1]}), worker (pid ${pids[2]}), Redis $redis (pid ${pids[0]})"

say "one task, from its creation to its result"
arguments='{"name":"example.bin","megabytes":64}'
echo "$ errand call --detach checksum '$arguments' --url $url"
task=$("$bin/errand" call --detach checksum "$arguments" --url "$url" 2>&1) || die "no task: $task"
echo "$task"
echo "$ errand get $task --url $url"
shown=''
while [ -z "$shown" ] || [[ $shown = *working* ]]; do
  now=$("$bin/errand" get "$task" --url "$url" | grep '^status') || die "the task is not to be found"
  [ "$now" = "$shown" ] || printf '%s\n' "$now"
  shown=$now
  sleep 0.1
done
echo "$ errand result $task --url $url"
result=$("$bin/errand" result "$task" --url "$url") || die "the task has no result"
echo "$result"
[[ $result =~ ^[0-9a-f]{64}\ \ example\.bin\ \(64\ MB\)$ ]] || die "that is no checksum"
[ "$once" = --once ] && exit 0

say "connect to it"
cat <<END
An MCP client (Streamable HTTP), for instance in its configuration file:

  { "mcpServers": { "errand": { "type": "http", "url": "$url" } } }

The command line:

  $bin/errand tools --url $url
  $bin/errand call wordcount '{"file":"/usr/share/common-licenses/GPL-3"}' --url $url
  $bin/errand call compress '{"folder":"/usr/share/doc","method":"gzip"}' --url $url

What looks into Redis needs to know where it is: errand queue, dead, key and doctor

  $bin/errand queue --redis $redis

Logs and files are in $dir until you end this with Ctrl-C.
END
wait -n "${pids[@]}" || true
die "one of the programs ended"
