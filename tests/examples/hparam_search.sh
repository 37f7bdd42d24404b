#!/bin/sh
# hparam_search as a user meets it: search, be killed and go on, fix some hyper-parameters, and what goes wrong.
# Usage: hparam_search.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --trials 9 --run whole >out 2>&1 || { fail 'search'; cat out; }
right_above 95
cp out whole.out
for file in report.html best.json events/halving-00/train events/*/best/plugins/profile/predict; do ls -d whole/$file >ls.out 2>&1 || fail "no $file"; done
grep -q '>best run<' whole/report.html || fail 'the report does not name the best run'
[ "$(grep -c '^<tr><td>halving-0.</td>' whole/report.html)" = 9 ] || fail 'the report does not have 9 runs'
# TensorBoard shows the best run at the step of its curves; a distribution is drawn between two steps.
python3 - <<'PY' || fail 'the steps of the best run'
import glob, struct
def events(folder):
    for path in glob.glob(folder + "/events.out.tfevents.*"):
        data = open(path, "rb").read()
        while data:
            size = struct.unpack("<Q", data[:8])[0]
            yield data[12:12 + size]
            data = data[16 + size:]
def step(event):  # after the time, the field 2 unless it is 0
    if event[9] != 0x10: return 0
    n = next(i for i in range(10, 20) if event[i] < 0x80)
    return sum((event[i] & 0x7f) << 7 * (i - 10) for i in range(10, n + 1))
best = glob.glob("whole/events/*/best")[0]
last = max(map(step, events(best[:-len("best")] + "train")))
assert {step(e) for e in events(best) if b"dense/kernel" in e} >= {0, last}, last
assert {step(e) for e in events(best) if b"wrong" in e} == {last}, last
PY

# Killed and started again it prints what the search does that nobody kills.
python3 - "$program" <<'PY' || fail 'a killed search'
import subprocess, sys
run = [sys.argv[1], "--trials", "9", "--run", "killed"]
p = subprocess.Popen(run, stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if ", 3 epochs: " in line: break
p.kill()
p.communicate()
again = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout
assert again == open("whole.out").read().replace("whole/", "killed/"), again
PY
cmp -s whole/best.json killed/best.json || fail 'another best run after a kill'

"$program" --trials 2 --fix 'lr=0.01,layers=1,optimizer=sgd' --run fixed >out 2>&1 || { fail 'fixed'; cat out; }
[ "$(grep -c 'halving-.*lr=0.01,optimizer=sgd,layers=1,' out)" = 2 ] || { fail 'hyper-parameters are not fixed'; cat out; }
says 'has a run of another configuration' "$program" --trials 2 --fix 'lr=0.02' --run fixed

# A browser sees the runs until Ctrl-C ends the search.
python3 - "$program" <<'PY' || fail 'an interrupted search'
import signal, socket, subprocess, sys, urllib.request
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
with socket.create_server(("127.0.0.1", 0)) as free: port = free.getsockname()[1]
p = subprocess.Popen([sys.argv[1], "--trials", "1000", "--run", "stopped", "--status-port", str(port)], stdout=subprocess.PIPE, text=True)
url = p.stdout.readline().split()[-1]
assert url == f"http://127.0.0.1:{port}/", url
for line in p.stdout:
    if line.startswith("halving-00,"): break
page = urllib.request.urlopen(url).read().decode()
assert "<td>halving-00</td>" in page and "val" in page, page[:3000]
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode in (130, -signal.SIGINT), (p.returncode, out)
PY

if has_real mnist; then
  "$program" --data "$mnist" --trials 9 --run real >out 2>&1 || { fail 'real digits'; cat out; }
  right_above 90
fi

narrow_help
fails_with 1 'there is no folder nowhere' "$program" --data nowhere
fails_with 1 'there is no parameter "foo"; there are: lr, optimizer' "$program" --fix foo=1
fails_with 1 'units is a whole number, not "abc"' "$program" --fix units=abc
fails_with 1 "there is no optimizer 'lion'" "$program" --fix optimizer=lion --trials 1 --run lion
fails_with 2 "'0' is not a whole number of at least 1" "$program" --trials 0
fails_with 2 'status-port' "$program" --status-port 65536
fails_with 2 "'x' is not a whole number of at least 0" "$program" --seed x

finish
