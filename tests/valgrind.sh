#!/usr/bin/env bash
# valgrind.sh PROGRAM FOLDER - one test program under valgrind; its output and status go to FOLDER.
name=$2/$(basename "$1")
timeout -k 5 600 valgrind -q --error-exitcode=9 --leak-check=full \
  --errors-for-leak-kinds=definite,possible "$1" >"$name.valgrind" 2>&1
echo "$?" >"$name.status"
