#!/bin/sh
# xor as a user meets it: all starts succeed with four units and not with two, another table, and what goes wrong.
# Usage: xor.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out 2>&1 || { fail default; cat out; }
grep -q '4 hidden units: all 4 rows right from 20 of 20 starts' out || { fail 'not from all starts'; cat out; }
near "$(number 'largest loss ([0-9.e-]+)')" .001 .001 || { fail 'the largest loss'; cat out; }
# About half of 200 starts, of which 7 is one standard deviation.
"$program" --hidden 2 --starts 200 --steps 500 >out 2>&1 || { fail 'two units'; cat out; }
near "$(number 'right from ([0-9]+) of 200')" 98 14 || { fail 'two units'; cat out; }

printf 'a,b,c,parity\n0,0,0,0\n0,0,1,1\n0,1,0,1\n0,1,1,0\n1,0,0,1\n1,0,1,0\n1,1,0,0\n1,1,1,1\n' >parity.csv
"$program" --data parity.csv --hidden 12 --starts 3 >out 2>&1 && grep -q 'all 8 rows right from 3 of 3' out || { fail parity; cat out; }

bad_data a,b
bad_numbers a,b
finish
