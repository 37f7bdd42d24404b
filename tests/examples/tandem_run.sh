#!/bin/sh
# tandem_run as a user meets it: what processes get and write, deaths, restarts, signals, several nodes.
# Usage: tandem_run.sh PROGRAM
set -u
unset TANDEM_NUM_THREADS OMP_NUM_THREADS OMP_THREAD_LIMIT  # the last two are what nproc goes by
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$(dirname "$0")/gives.sh"

fail() { failures=$((failures + 1)); echo "FAILED: $*:"; cat "$folder/out"; }
# ends STATUS ARGUMENT...: tandem_run ends with it; its output is in out.
ends() {
  wanted=$1
  shift
  "$program" "$@" >"$folder/out" 2>&1
  status=$?
  [ $status = "$wanted" ] || fail "status $status, not $wanted: $*"
}
has() { grep -q -e "$1" "$folder/out" || fail "no '$1'"; }
has_not() { grep -q -e "$1" "$folder/out" && fail "there is '$1'"; }
# within SECONDS COMMAND...: tries again until it succeeds.
within() {
  tries=$(($1 * 20))
  shift
  while ! "$@" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.05
  done
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# What processes get, and their lines.
ends 0 -n 3 -- sh -c 'echo "rank $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE, $MASTER_ADDR"; echo "to err" >&2'
for rank in 0 1 2; do has "^\[$rank\] rank $rank of 3, $rank of 3, 127.0.0.1$"; done
[ "$(grep -c '^\[.\] to err$' "$folder/out")" = 3 ] || fail 'stderr'
"$program" -n 2 sh -c 'echo out; echo err >&2' 2>/dev/null >"$folder/out"
has '^\[1\] out'
has_not err
ends 0 -n 2 --rank-0-plain -- sh -c 'echo "line of $RANK"'
has '^line of 0$'
has '^\[1\] line of 1$'
ends 0 -n 2 -- sh -c 'printf "no newline $RANK"'
has '^\[1\] no newline 1$'
ends 0 -n 2 -- sh -c 'test "$MASTER_PORT" -gt 0 && echo "$TANDEM_STORE" | grep -q ^127.0.0.1: && test -z "${SLURM_PROCID:-}"'
TANDEM_NUM_THREADS=7 ends 0 -n 2 -- sh -c 'test "$TANDEM_NUM_THREADS" = 7'
cores=$(nproc)
ends 0 -n 1 -- sh -c "test \$TANDEM_NUM_THREADS = $cores"
ends 0 -n 1000 -- true
SLURM_PROCID=3 OMPI_COMM_WORLD_RANK=2 ends 0 -n 2 -- sh -c 'test -z "${SLURM_PROCID:-}${OMPI_COMM_WORLD_RANK:-}"'
TANDEM_JOIN=1 ends 0 -n 1 -- sh -c 'test -z "${TANDEM_JOIN:-}"'
# Lines of two processes do not mix, however they are written.
ends 0 -n 2 -- sh -c 'for i in $(seq 300); do printf "a%s" $RANK; printf "b%s\n" $RANK; done'
[ "$(grep -c '^\[0\] a0b0$' "$folder/out")" = 300 ] && [ "$(grep -c '^\[1\] a1b1$' "$folder/out")" = 300 ] || fail 'lines mix'
# Who writes without an end keeps nothing else waiting, and ends with those that read.
timeout 20 "$program" -n 1 -- yes 2>"$folder/err" | head -1 >"$folder/out"
has '^\[0\] y$'
timeout 20 "$program" -n 1 -- true || fail 'an end'
timeout 20 "$program" -n 2 -- sh -c 'test $RANK = 0 || { sleep 0.3; exit 9; }; exec yes' >"$folder/much" 2>"$folder/out"
[ $? = 9 ] || fail 'the end of rank 1 beside much output'
ends 0 -n 1 -- sh -c 'head -c 3000000 /dev/zero | tr "\0" "\n"; echo last'
has '^\[0\] last$'

# Deaths.
ends 7 -n 3 -- sh -c 'test $RANK != 1 || exit 7; exec sleep 1000'
has 'rank 1 (process [0-9]*) ended with status 7; stopping the others'
ends 137 -n 2 -- sh -c 'test $RANK != 0 || kill -9 $$; exec sleep 1000'
has 'rank 0 (process [0-9]*) was killed by signal 9 (Killed)'
ends 1 -n 2 -- "$folder/none"
has "cannot start $folder/none: No such file or directory"
ends 4 -n 2 --grace 0.5 -- sh -c 'trap "" TERM; test $RANK != 0 || { sleep 0.5; exit 4; }; while :; do sleep 0.1; done'
has 'rank 1 (process [0-9]*) has not ended in time; killing it'
# Those that a process has started end with it.
ends 3 -n 2 -- sh -c "sleep 1000 & echo \$! >>$folder/started; test \$RANK != 0 || { sleep 0.3; exit 3; }; wait"
[ "$(wc -l <"$folder/started")" = 2 ] || fail 'not two were started'
for pid in $(cat "$folder/started"); do within 5 sh -c "! kill -0 $pid" || fail "process $pid is left"; done

# Restarts.
ends 0 -n 2 --max-restarts 3 -- sh -c 'echo "attempt $TANDEM_RESTART_COUNT"; test $TANDEM_RESTART_COUNT = 2 || test $RANK = 0'
has 'tandem_run: restart 2 of 3'
has_not 'restart 3'
has '^\[0\] attempt 2$'
ends 5 -n 2 --max-restarts 1 -- sh -c 'echo "attempt $TANDEM_RESTART_COUNT"; test $RANK = 1 || exit 5; exec sleep 1000'
[ "$(grep -c '^\[0\] attempt' "$folder/out")" = 2 ] || fail 'not two attempts'
has_not 'restart 2'

# Processes that go on without another one.
"$program" -n 3 --min-processes 2 -- sh -c "test \$RANK != 1 || exit 4
  until test -e $folder/said; do sleep 0.05; done; echo done \$RANK" >"$folder/out" 2>&1 &
within 60 grep -q 'go on' "$folder/out" || fail 'nobody goes on'
touch "$folder/said"
wait $! || fail 'the end of those that go on'
has 'rank 1 (process [0-9]*) ended with status 4; 2 processes go on'
has '^\[0\] done 0$'
has '^\[2\] done 2$'
# One that fails after the others have ended well.
"$program" -n 3 --min-processes 2 -- sh -c "echo \$\$ >$folder/pid\$RANK; test \$RANK = 1 || exit 0
  until test -e $folder/end; do sleep 0.05; done; exit 4" >"$folder/out" 2>&1 &
for rank in 0 2; do
  within 60 test -s "$folder/pid$rank" || fail "rank $rank has not come"
  within 60 sh -c "! test -e /proc/$(cat "$folder/pid$rank") || grep -q '^State:.Z' /proc/$(cat "$folder/pid$rank")/status" ||
    fail "rank $rank has not ended"
done
touch "$folder/end"
wait $! || fail 'one that fails when the others have ended'
has 'rank 1 (process [0-9]*) ended with status 4; the others have ended'
"$program" -n 2 --min-processes 3 -- true >"$folder/out" 2>&1 && fail '--min-processes above -n'
has '3 is more than the 2 processes'
ends 4 -n 3 --min-processes 2 --max-restarts 1 -- sh -c 'test $RANK != 2 || exec sleep 1000; exit 4'
has 'stopping the others'
has 'restart 1 of 1'

# One that is started in the place of another one has a number of its own, and its place.
"$program" -n 3 --min-processes 2 --max-replacements 1 -- sh -c "echo \$RANK of \$WORLD_SIZE, \$LOCAL_RANK, join \$TANDEM_JOIN
  test \$RANK != 1 || exit 4
  test \$RANK = 3 && touch $folder/replaced
  until test -e $folder/replaced; do sleep 0.05; done" >"$folder/out" 2>&1 || fail 'a replacement'
has '^\[3\] 3 of 4, 1, join 1$'
has '^\[2\] 2 of 3, 2, join$'
has 'rank 3 (process [0-9]*) is to join them (1 of 1)'
ends 4 -n 3 --min-processes 2 --max-replacements 2 -- sh -c 'test $RANK != 0 || exec sleep 1000; exit 4'
has 'stopping the others'
# One that nobody has taken in is stopped when the others have ended well.
ends 0 -n 2 --min-processes 1 --max-replacements 1 --grace 1 -- sh -c "test \$RANK != 1 || exit 4
  test \$RANK != 2 || { touch $folder/waits; exec sleep 1000; }
  until test -e $folder/waits; do sleep 0.05; done"
has 'rank 2 (process [0-9]*) was left out, and the others have ended; stopping it'
"$program" -n 2 --max-replacements 1 -- true >"$folder/out" 2>&1 && fail '--max-replacements without --min-processes'
has 'it needs --min-processes'
"$program" -n 2 --join -- true >"$folder/out" 2>&1 && fail '--join without --rendezvous'
# On another machine, later.
meeting=127.0.0.1:$(free_port)
"$program" -n 2 --min-processes 1 --rendezvous "$meeting" -- sh -c "echo first \$RANK
  until test -e $folder/later; do sleep 0.05; done" >"$folder/out" 2>&1 &
first=$!
"$program" -n 2 --join --rendezvous "$meeting" -- sh -c "echo \$RANK of \$WORLD_SIZE, \$LOCAL_RANK, join \$TANDEM_JOIN
  touch $folder/later" >"$folder/later_out" 2>&1 || fail 'the status of --join'
wait $first || fail 'those that others join'
cat "$folder/later_out" >>"$folder/out"
has '^\[2\] 2 of 3, 0, join 1$'
has '^\[3\] 3 of 4, 1, join 1$'
# Two nodes: those of both count.
meeting=127.0.0.1:$(free_port)
for node in 0 1; do
  "$program" -n 2 --nnodes 2 --node-rank $node --min-processes 3 --rendezvous "$meeting" -- sh -c "
    test \$RANK != 3 || exit 5
    until test -e $folder/both; do sleep 0.05; done" >"$folder/out$node" 2>&1 &
  eval "node$node=\$!"
done
within 60 grep -q '3 processes go on' "$folder/out1" || fail 'two nodes go on'
touch "$folder/both"
wait $node0 || fail 'node 0 of those that go on'
wait $node1 || fail 'node 1 of those that go on'
meeting=127.0.0.1:$(free_port)
for node in 0 1; do
  "$program" -n 2 --nnodes 2 --node-rank $node --min-processes 4 --rendezvous "$meeting" -- sh -c '
    test $RANK != 3 || exit 5; exec sleep 1000' >"$folder/out$node" 2>&1 &
  eval "node$node=\$!"
done
wait $node0
[ $? = 5 ] || fail 'node 0 of too few'
wait $node1
[ $? = 5 ] || fail 'node 1 of too few'

# Signals.
"$program" -n 2 --max-restarts 3 -- sh -c "touch $folder/up\$RANK; exec sleep 1000" >"$folder/out" 2>&1 &
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -INT $!
wait $!
[ $? = 130 ] || fail 'SIGINT'
has_not restart
# After SIGINT a rank that ends does not end the others: they save first. A second file says that the trap is set.
rm -f "$folder"/up*
"$program" -n 2 --grace 10 -- sh -c "trap 'test \$RANK = 0 || sleep 1; echo saved \$RANK; exit 1' INT; trap 'exit 2' TERM
  touch $folder/up\$RANK; while :; do sleep 0.1; done" >"$folder/out" 2>&1 &
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -INT $!
wait $! && fail 'SIGINT and a status'
has '^\[0\] saved 0$'
has '^\[1\] saved 1$'
# SIGHUP, which nohup ignores.
rm -f "$folder"/up*
nohup "$program" -n 1 -- sh -c "touch $folder/up\$RANK; sleep 1; echo ended" >"$folder/out" 2>&1 &
within 10 test -e "$folder/up0" && kill -HUP $!
wait $! || fail nohup
has '^\[0\] ended$'
rm -f "$folder"/up*
"$program" -n 2 -- sh -c "trap 'echo saved \$RANK; exit 0' USR1; touch $folder/up\$RANK; while :; do sleep 0.1; done" >"$folder/out" 2>&1 &
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -USR1 $!
wait $! || fail 'SIGUSR1'
has '^\[1\] saved 1$'
rm -f "$folder"/up*
"$program" -n 2 -- sh -c "echo \$\$ >$folder/up\$RANK; exec sleep 1000" >"$folder/out" 2>&1 &
within 10 test -s "$folder/up0" -a -s "$folder/up1" && kill -KILL $!
wait $! 2>/dev/null
for rank in 0 1; do within 5 sh -c "! kill -0 $(cat "$folder/up$rank")" || fail "an orphan, rank $rank"; done

# Two nodes, by an address and by a folder. One that fails takes the other one with it; both start again.
for meeting in "127.0.0.1:$(free_port)" "$folder"; do
  for node in 0 1; do
    "$program" -n 2 --nnodes 2 --node-rank $node --rendezvous "$meeting" --max-restarts 1 -- \
      sh -c 'echo "rank $RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT, attempt $TANDEM_RESTART_COUNT"
             test $TANDEM_RESTART_COUNT = 1 || { test $RANK != 3 || exit 6; exec sleep 1000; }' >"$folder/out$node" 2>&1 &
    eval "node$node=\$!"
  done
  wait "$node0" || { cp "$folder/out0" "$folder/out"; fail "node 0 by $meeting"; }
  wait "$node1" || { cp "$folder/out1" "$folder/out"; fail "node 1 by $meeting"; }
  cat "$folder/out0" "$folder/out1" >"$folder/out"
  for rank in 0 1 2 3; do has "^\[$rank\] rank $rank of 4 at .*:[0-9]*, attempt 1$"; done
  [ "$(sed -n 's/.* at \(.*\), attempt 1$/\1/p' "$folder/out" | sort -u | wc -l)" = 1 ] || fail 'not one master'
  has 'rank 3 (process [0-9]*) ended with status 6 on node 1; stopping the others'
done
# A node whose tandem_run was killed and is started again joins the others, who start again with it.
rm -f "$folder"/up*
meeting=127.0.0.1:$(free_port)
node() {
  exec "$program" -n 1 --nnodes 2 --node-rank $1 --rendezvous "$meeting" --max-restarts 1 -- sh -c \
    "echo attempt \$TANDEM_RESTART_COUNT; touch $folder/up\$RANK; test \$TANDEM_RESTART_COUNT = 1 || exec sleep 1000"
}
node 0 >"$folder/out0" 2>&1 &
node0=$!
node 1 >"$folder/out1" 2>&1 &
node1=$!
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -KILL $node1
wait $node1 2>/dev/null
node 1 >"$folder/out1" 2>&1 &
wait $! || { cp "$folder/out1" "$folder/out"; fail 'a node that was started again'; }
wait $node0 || { cp "$folder/out0" "$folder/out"; fail 'the other node'; }
cp "$folder/out1" "$folder/out"
has '^\[1\] attempt 1$'
cp "$folder/out0" "$folder/out"
has 'node 1 (.*) was started again; stopping the others'
# A signal to one node ends both, without a restart; the other one passes it on.
rm -f "$folder"/up*
meeting=127.0.0.1:$(free_port)
for node in 0 1; do
  "$program" -n 1 --nnodes 2 --node-rank $node --rendezvous "$meeting" --max-restarts 3 -- \
    sh -c "trap 'echo saved \$RANK; exit 1' INT; touch $folder/up\$RANK; while :; do sleep 0.1; done" >"$folder/out$node" 2>&1 &
  eval "node$node=\$!"
done
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -INT $node1
for node in 0 1; do
  eval "wait \$node$node"
  status=$?
  cp "$folder/out$node" "$folder/out"
  [ $status = 1 ] || fail "status $status of node $node after SIGINT to node 1"
  has "^\[$node\] saved $node$"
  has_not restart
done
cp "$folder/out0" "$folder/out"
has 'node 1 has got signal 2 (Interrupt); passing it on'
# Processes that end well after the signal.
rm -f "$folder"/up*
meeting=127.0.0.1:$(free_port)
for node in 0 1; do
  "$program" -n 1 --nnodes 2 --node-rank $node --rendezvous "$meeting" --max-restarts 3 --grace 5 -- \
    sh -c "trap 'exit 0' INT; touch $folder/up\$RANK; while :; do sleep 0.1; done" >"$folder/out$node" 2>&1 &
  eval "node$node=\$!"
done
within 10 test -e "$folder/up0" -a -e "$folder/up1" && kill -INT $node0
wait $node1
[ $? = 130 ] || { cp "$folder/out1" "$folder/out"; fail 'node 1 after SIGINT to node 0'; }
wait $node0 || { cp "$folder/out0" "$folder/out"; fail 'node 0 after SIGINT'; }
# A signal to a node that waits for the others at the start: one that comes later ends, too.
rm -f "$folder/tandem_run.store"
"$program" -n 1 --nnodes 2 --node-rank 0 --rendezvous "$folder" -- true >"$folder/out0" 2>&1 &
node0=$!
within 10 test -s "$folder/tandem_run.store" && kill -INT $node0
within 10 grep -q 'signal 2 (Interrupt); telling the other nodes' "$folder/out0"
ends 130 -n 1 --nnodes 2 --node-rank 1 --rendezvous "$folder" --timeout 20 -- true
has 'node 0 has got signal 2 (Interrupt); stopping'
wait $node0
[ $? = 130 ] || { cp "$folder/out0" "$folder/out"; fail 'node 0 after SIGINT at the start'; }
# A node that never comes, and one that dies.
ends 1 -n 1 --nnodes 2 --node-rank 0 --rendezvous "127.0.0.1:$(free_port)" --timeout 0.5 -- true
has '^tandem_run: --nnodes: 1 of 2 nodes have come within 0.5 s'
ends 1 -n 1 --nnodes 2 --node-rank 1 --rendezvous "127.0.0.1:$(free_port)" --timeout 0.5 -- true
has '^tandem_run: --rendezvous: node 0 cannot be reached at 127.0.0.1:[0-9]* within 0.5 s'
ends 1 -n 1 --nnodes 2 --rendezvous "$folder/none" -- true
has '^tandem_run: --rendezvous: .*/none is not a folder$'

# Wrong arguments.
ends 2 -n 2
has 'a command behind --'
ends 2 -n 0 -- true
has "'0' is not a whole number of at least 1"
ends 2 --none -- true
has 'not expected: --none'
ends 2 -n 2 --nnodes 2 --node-rank 2 --rendezvous a:1 -- true
has '2 is not less than --nnodes 2'
ends 2 -n 2 --nnodes 2 -- true
has 'rendezvous'
ends 1 -n 1 --nnodes 2 --rendezvous nonsense -- true
has "'nonsense' is not a host and a port"
gives 'max-restarts' "$program" --help
exit $failures
