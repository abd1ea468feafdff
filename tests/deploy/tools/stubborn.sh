#!/bin/sh
# stubborn.sh - ignores SIGTERM, and so does what it starts; one child leaves for a session of its own.
trap '' TERM
setsid sleep 1000 &
sleep 1000 &
echo "start $ERRAND_TASK_ID $ERRAND_ATTEMPT stubborn" >>/effects/log
wait
