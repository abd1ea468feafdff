# shellcheck shell=bash
# engine.sh - a container engine for the tests; sourced. The machine's own where one answers, else
# one of ours, made of Debian's packages in a folder that goes with it.
#
#   engine_start FOLDER   exports DOCKER_HOST and DOCKER_CONFIG; status 77 and a line "skipped: why"
#                         where there can be none
#   engine_stop           ends what engine_start started, and nothing else

engine_pid='' engine_dir=''
engine_suite=trixie

engine_start() {
  engine_dir=$1
  export DOCKER_CONFIG=$engine_dir/config
  engine_packages && engine_answers && engine_compose && engine_base
}

engine_skip() { # reason
  echo "skipped: $*"
  return 77
}

engine_packages() {
  local missing=()
  command -v dockerd >/dev/null || docker info >/dev/null 2>&1 || missing+=(docker.io iptables)
  command -v docker >/dev/null || ! apt-cache show docker-cli >/dev/null 2>&1 || missing+=(docker-cli)
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  ((${#missing[@]})) || return 0
  [ "$(id -u)" -eq 0 ] || { engine_skip "no container engine here, and only root can install one"; return; }
  command -v apt-get >/dev/null || { engine_skip "no container engine here, and no apt-get to install one"; return; }
  echo "installing ${missing[*]}"
  apt-get -qq update >/dev/null 2>&1 || true
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" \
    >"$engine_dir/apt.log" 2>&1 || engine_skip "cannot install ${missing[*]}: $(tail -n 1 "$engine_dir/apt.log")"
}

# A network bridge of its own name for nobody: another engine on this machine keeps docker0.
engine_answers() {
  if docker info >/dev/null 2>&1; then
    echo "engine: the one that is here"
    return
  fi
  [ "$(id -u)" -eq 0 ] || { engine_skip "no container engine answers, and only root can start one"; return; }
  export DOCKER_HOST=unix://$engine_dir/docker.sock
  dockerd --data-root "$engine_dir/data" --exec-root "$engine_dir/exec" --bridge none \
    --pidfile "$engine_dir/pid" -H "$DOCKER_HOST" >"$engine_dir/dockerd.log" 2>&1 </dev/null &
  engine_pid=$!
  for _ in {1..300}; do
    if docker info >/dev/null 2>&1; then
      echo "engine: started here, process $engine_pid"
      return
    fi
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.2
  done
  engine_skip "a container engine cannot run here: $(grep -v level=info "$engine_dir/dockerd.log" | tail -n 1)"
}

engine_mirror() {
  # shellcheck disable=SC2016 # the format is apt's
  apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1
}

# Debian 12 has no compose of the kind that reads today's files, Debian 13 has; it is one program
# that runs on both. apt checks the signatures, with lists of its own.
engine_compose() {
  local apt=$engine_dir/apt to=$DOCKER_CONFIG/cli-plugins options
  mkdir -p "$to"
  if docker compose version >/dev/null 2>&1; then return; fi
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb $(engine_mirror) $engine_suite main" >"$apt/sources.list"
  options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  if apt-get "${options[@]}" update >"$apt/log" 2>&1 &&
    (cd "$apt" && apt-get "${options[@]}" download docker-compose >>log 2>&1) &&
    dpkg -x "$apt"/docker-compose_*.deb "$apt/root" &&
    install "$apt"/root/usr/libexec/docker/cli-plugins/docker-compose "$to/" &&
    docker compose version >/dev/null 2>&1; then
    rm -rf "$apt"
    return
  fi
  engine_skip "no docker compose here, and none to be had from Debian: $(tail -n 1 "$apt/log")"
}

# The base of the images: there, or from a registry, or made of Debian's packages.
engine_base() {
  local base=debian:$engine_suite-slim log=$engine_dir/base.log
  if docker image inspect "$base" >/dev/null 2>&1; then return; fi
  if timeout 60 docker pull -q "$base" >/dev/null 2>&1; then
    return
  fi
  echo "making $base"
  if debootstrap --variant=minbase "$engine_suite" "$engine_dir/base" "$(engine_mirror)" >"$log" 2>&1 &&
    rm -rf "$engine_dir"/base/var/cache/apt/archives/*.deb &&
    tar -C "$engine_dir/base" -c . | docker import --change 'CMD ["bash"]' - "$base" >/dev/null; then
    rm -rf "$engine_dir/base"
    return
  fi
  engine_skip "no image $base here, none from a registry, and none could be made: $(tail -n 1 "$log")"
}

# Its shims do not die with it: whoever stops it has removed its containers before.
engine_stop() {
  [ -n "$engine_pid" ] || return 0
  kill -TERM "$engine_pid" 2>/dev/null || true
  for _ in {1..100}; do
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL "$engine_pid" 2>/dev/null || true
  wait "$engine_pid" 2>/dev/null || true
  grep -o " $engine_dir/[^ ]*" /proc/self/mounts | sort -r | xargs -r umount -l 2>/dev/null || true
}
