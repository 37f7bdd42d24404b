#!/bin/sh
# dqn as a user meets it: it learns, draws, stops at Ctrl-C, and what goes wrong. Usage: dqn.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out 2>&1 || { fail 'train'; cat out; }
awk "BEGIN { exit !($(number 'stays up for ([0-9]+) steps before') < 60 && $(number 'before and ([0-9]+) after') > 200) }" ||
  { fail 'what it has learned'; cat out; }
picture dqn.svg 'How long the pole stays up'
bad_arguments
finish
