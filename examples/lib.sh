# shellcheck shell=sh
# lib.sh - what the example tools share. Sourced by each.
#
# A tool writes its result to stdout and reports on the way on file descriptor 3, one JSON-RPC
# message a line, in MCP's own shapes. Run by hand there is no descriptor 3: reports are dropped.

if ! { true >&3; } 2>/dev/null; then
  exec 3>/dev/null
fi

fail() { # message
  printf '%s\n' "$*" >&2
  exit 1
}

# The message must need no JSON escapes: say numbers and fixed words only.
progress() { # done total message
  printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d,"total":%d,"message":"%s"}}\n' \
    "$1" "$2" "$3" >&3
}

# What a caller names is data: it may begin with a dash, climb with .., or be a link to elsewhere.
# Prints the real path, or fails when that is not below one of the folders.
inside() { # path folders...
  real=$(realpath -e -- "$1" 2>/dev/null) || fail "there is no such file"
  shift
  for folder in "$@"; do
    case $real in
      "$(realpath -- "$folder")"/*)
        printf '%s\n' "$real"
        return
        ;;
    esac
  done
  fail "this tool reads only below: $*"
}

work=${EXAMPLES_DIR:-${TMPDIR:-/tmp}/errand-examples}
mkdir -p -- "$work"
