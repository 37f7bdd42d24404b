#!/bin/sh
# first_gradient: finds the line. Usage: first_gradient.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out || fail 'run'
near "$(number 'y = ([0-9.]+) x')" 2 .01 || { fail slope; cat out; }
near "$(number 'x . ([0-9.]+)')" 1 .02 || { fail offset; cat out; }
finish
