#!/bin/sh
# first_model: learns the circle. Usage: first_model.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out || { fail 'run'; cat out; }
[ "$(grep -c '^step .*, loss' out)" = 5 ] || { fail 'progress'; cat out; }
near "$(number 'points: ([0-9.]+) %')" 98 2 || { fail 'accuracy'; cat out; }
finish
