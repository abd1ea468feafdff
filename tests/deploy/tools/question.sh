#!/bin/sh
# question.sh NAME - the same, with a question in between.
set -eu
echo "start $ERRAND_TASK_ID $ERRAND_ATTEMPT $1" >>/effects/log
answer=$(errand ask --message "How many, $1?" --field n:integer)
echo "end $ERRAND_TASK_ID $ERRAND_ATTEMPT $1" >>/effects/log
echo "$1 $answer"
