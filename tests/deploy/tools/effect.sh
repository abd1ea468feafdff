#!/bin/sh
# effect.sh NAME SECONDS - one line in /effects/log at the beginning, one at the end.
set -eu
echo "start $ERRAND_TASK_ID $ERRAND_ATTEMPT $1" >>/effects/log
sleep "$2"
echo "end $ERRAND_TASK_ID $ERRAND_ATTEMPT $1" >>/effects/log
echo "did $1"
