#!/usr/bin/env bash
# make-secrets.sh [FOLDER] - what compose.yaml hands to the containers as secrets, in deploy/secrets
# or FOLDER: made once, and kept when it is there.
#
#   redis-password   of the user errand in Redis
#   redis.acl        the users of Redis: errand with what its programs need, probe with nothing but
#                    PING, for health checks. Nobody can be the default one, but it keeps its rights:
#                    Redis reads its append-only file as that user, and loses what it may not do
#   errand-secret    the installation's own, from which it derives ids of callers and seals cursors
#   grafana-password of the user admin in Grafana
#
# The folder is for its owner alone; the files in it are not, because a container's user reads them.
set -euo pipefail
umask 077

to=${1:-$(cd "$(dirname "$0")" && pwd)/secrets}
mkdir -p "$to"

random_text() { head -c 32 /dev/urandom | basenc --base64url | tr -d '=\n'; }

keep() { # file, its text on standard input
  local text
  text=$(cat)
  if [ -e "$to/$1" ]; then return; fi
  printf '%s\n' "$text" >"$to/$1"
  chmod 444 "$to/$1"
}

random_text | keep redis-password
random_text | keep errand-secret
random_text | keep grafana-password
digest=$(tr -d '\n' <"$to/redis-password" | sha256sum | cut -d' ' -f1)
keep redis.acl <<END
user default off resetpass ~* &* +@all
user probe on nopass resetkeys resetchannels -@all +ping
user errand on #$digest resetkeys ~errand:* resetchannels &errand:* +@all -@admin -@dangerous +info +config|get +acl|dryrun +role +client|list
END
