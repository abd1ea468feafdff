#!/usr/bin/env bash
# run.sh - the images and the compose file as an operator has them, with real clients through nginx
# while containers are killed. Ends with the plain line of counts; with status 77 and the reason
# where no container engine can be had.
#
# Everything has a name of this run's own and goes with it: project, tags, folder, engine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
# shellcheck source=tests/deploy/engine.sh
. "$here/engine.sh"

started=$SECONDS
say() { printf '[%3d s] %s\n' $((SECONDS - started)) "$*"; }

# What an earlier run left that could not end itself: its engine is known by its folder.
end_leftovers() {
  local old pid
  for old in /var/tmp/errand-deploy.*; do
    [ -e "$old/owner" ] || continue
    if kill -0 "$(cat "$old/owner")" 2>/dev/null; then continue; fi
    pid=$(cat "$old/pid" 2>/dev/null || true)
    if [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "--data-root $old/"; then
      echo "ending the engine of an earlier run, process $pid"
      DOCKER_HOST=unix://$old/docker.sock docker ps -aq 2>/dev/null |
        DOCKER_HOST=unix://$old/docker.sock xargs -r docker rm -fv >/dev/null 2>&1 || true
      kill -TERM "$pid" 2>/dev/null || true
      for _ in {1..100}; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
      done
    fi
    # Containers outlive an engine that was killed: each is the child of a shim.
    pgrep -f -- "^[^ ]*containerd-shim[^ ]* .*-address $old/exec/" | while read -r pid; do
      pgrep -P "$pid" | xargs -r kill -KILL 2>/dev/null || true
      kill -KILL "$pid" 2>/dev/null || true
    done
    grep -o " $old/[^ ]*" /proc/self/mounts | sort -r | xargs -r umount -l 2>/dev/null || true
    rm -rf --one-file-system "$old" || true
  done
}
end_leftovers

# A short path: sockets are in it. Containers read it, so it is not for its owner alone.
dir=$(mktemp -d /var/tmp/errand-deploy.XXXXXX)
chmod 755 "$dir"
echo $$ >"$dir/owner"
id=t$$-${dir##*.}
id=${id,,}
export ERRAND_TEST_DIR=$dir ERRAND_TAG=$id COMPOSE_PROJECT_NAME=errand-$id

cleanup() {
  trap '' INT TERM
  if docker info >/dev/null 2>&1; then
    docker ps -aq --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" |
      xargs -r docker rm -fv >/dev/null 2>&1 || true
    docker network ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" |
      xargs -r docker network rm >/dev/null 2>&1 || true
    docker volume ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" |
      xargs -r docker volume rm >/dev/null 2>&1 || true
    docker images -q --filter "reference=errand-*:$id" |
      xargs -r docker rmi -f >/dev/null 2>&1 || true
  fi
  engine_stop
  rm -rf --one-file-system "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$top/tests/interop/install.sh" || exit
PATH=$top/build/node/node_modules/node/bin:$PATH
export PATH
engine_start "$dir" || exit

# One copy of the sources for all images, so that they are compiled once: what git knows or would.
mkdir "$dir/context"
git -C "$top" ls-files -z --cached --others --exclude-standard |
  tar -C "$top" --null --ignore-failed-read -T - -c 2>/dev/null | tar -x -C "$dir/context"

build() { # name target-options...
  docker build --network=host -t "errand-$1:$id" "${@:2}" >"$dir/build-$1.log" 2>&1 || {
    tail -n 40 "$dir/build-$1.log"
    echo "FAILED the image $1 cannot be built"
    echo "0 passed, 1 failed"
    exit 1
  }
  say "image $1: $(docker image inspect "errand-$1:$id" --format '{{.Size}}' | awk '{printf "%.0f MB", $1 / 1e6}')"
}
say "engine ready"
build parts - <"$here/Dockerfile"
for target in broker examples cli; do
  build "$target" --build-arg "REVISION=$id" -f "$dir/context/deploy/Dockerfile" --target "$target" "$dir/context"
done

"$top/deploy/make-secrets.sh" "$dir/secrets"
mkdir -m 1777 "$dir/effects"
export ERRAND_SECRETS=$dir/secrets REDIS_IMAGE=errand-parts:$id NGINX_IMAGE=errand-parts:$id \
  VALKEY_IMAGE=errand-parts:$id PROMETHEUS_IMAGE=errand-parts:$id
status=0
"$top/tests/node.sh" "$here/deploy.test.mjs" || status=$?
cat "$dir/notes" 2>/dev/null || true
say "done"
exit "$status"
