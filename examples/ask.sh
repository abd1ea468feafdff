#!/bin/sh
# ask.sh THING - asks the person before it does something, and tells how it goes. Needs errand in the
# PATH or beside the programs of the build.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:$here/../build/bin

errand progress 1 3 'asking'
answer=$(errand ask --message "Clean up $1?" --field 'sure:boolean=false' --field 'note?:string') || {
  status=$?
  case $status in
    3) echo "declined: $1 is as it was" ;;
    4) echo "nobody decided: $1 is as it was" ;;
    *) echo "nobody could be asked" >&2; exit 1 ;;
  esac
  exit 0
}
errand log info "the answer was $answer"
errand progress 2 3 'working'
case $answer in
  *'"sure":true'* | *'"sure": true'*) echo "$1 is clean" ;;
  *) echo "$1 is as it was" ;;
esac
errand progress 3 3
