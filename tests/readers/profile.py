"""Lets TensorBoard's plugin "Profile" read what summary::write_profile writes.

python tests/readers/profile.py PROGRAM, where PROGRAM is the built tests/readers/events.cpp. Needs pip install tensorboard
tensorboard-plugin-profile; not part of ./dev test.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PORT = 6100 + os.getpid() % 800
FAILED = []


def check(what, holds, got=""):
    if not holds:
        FAILED.append(what)
    print("ok  " if holds else f"FAIL {got}", what)


def get(route, **query):
    url = f"http://localhost:{PORT}/data/plugin/profile/{route}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url) as answer:
        content = answer.read()
        return json.loads(gzip.decompress(content) if answer.headers["Content-Encoding"] == "gzip" else content)


def wait_for_runs():
    for _ in range(120):
        try:
            if runs := get("runs"):
                return runs
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.5)
    return []


def rows(table):
    return [dict(zip((c["id"] for c in table["cols"]), (cell["v"] for cell in row["c"]))) for row in table["rows"]]


def read_trace(trace):
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    threads = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    check("threads", len(threads) == 2 and all(t.startswith("thread ") for t in threads), threads)
    products = [e for e in events if e["name"] == "product:matmul"]
    check("ops of steps and of the other thread", len(products) == 4 and len({e["tid"] for e in products}) == 2, products)
    steps = sorted((e for e in events if e["name"].startswith("step ")), key=lambda e: e["ts"])
    check("steps", [e["name"] for e in steps] == ["step 5", "step 6", "step 7"], steps)
    inside = [sum(s["ts"] <= p["ts"] and p["ts"] + p["dur"] <= s["ts"] + s["dur"] for s in steps) for p in products]
    check("each product is within one step", inside == [1, 1, 1, 1], inside)
    check("a step has its number as group", len({e["args"]["group_id"] for e in steps}) == 3, steps)


def read_details(trace, query):
    """What a click on an event shows."""
    e = next(e for e in trace["traceEvents"] if e["name"] == "product:matmul")
    of = get("data", tag="trace_viewer@", event_name=e["name"], start_time_ms=e["ts"] / 1000, duration_ms=e["dur"] / 1000, unique_id=e["args"]["uid"], **query)
    values = next(e for e in of["traceEvents"] if e["name"] == "product:matmul")["args"]
    size = 4 * (200 * 300 + 300 * 400 + 200 * 400)
    check("details", (values["shapes"], int(values["bytes"])) == ("float32[200,300] x float32[300,400] -> float32[200,400]", size), values)
    check("source", "events.cpp:" in values["where"], values)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "profile", folder], check=True)
        board = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", str(PORT)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            check("runs", wait_for_runs() == ["three steps"])
            tools = get("run_tools", run="three steps")
            check("tools", {"trace_viewer@", "framework_op_stats", "overview_page"} <= set(tools), tools)
            check("hosts", get("hosts", run="three steps", tag="trace_viewer@") == [{"hostname": "box"}])
            query = {"run": "three steps", "host": "box"}
            trace = get("data", tag="trace_viewer@", **query)
            read_trace(trace)
            read_details(trace, query)
            with_idle, without = map(rows, get("data", tag="framework_op_stats", **query)[:2])
            counts = {(r["type"], r["operation"]): r["occurrences"] for r in without}
            check("ops", counts.get(("matmul", "product")) == 4, counts)
            check("time of ops", all(r["total_time"] >= r["total_self_time"] > 0 for r in without))
            check("time between ops", any(r["type"] == "IDLE" for r in with_idle))
            steps = next(t for t in get("data", tag="input_pipeline_analyzer", **query) if any(c["id"] == "stepnum" for c in t["cols"]))
            check("steps of the input pipeline", [r["stepnum"] for r in rows(steps)] == ["step 5", "step 6", "step 7"], steps["rows"])
        finally:
            board.terminate()
            board.wait()
    if FAILED:
        sys.exit(f"{len(FAILED)} failed")


if __name__ == "__main__":
    main()
