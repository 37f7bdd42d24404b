"""Versions come and go under load: no request fails, no answer mixes two versions, memory stays.

python3 tests/serving/load.py MODEL_SERVER SERVING_MODELS [SECONDS [CLIENTS]], where the first is the built example and the second
the built tests/readers/serving_models.cpp. Clients ask while versions 2 to 20 of a model appear, one of them broken.
Everything stays on loopback. With the default of 4 seconds it is one of the tests; 60 are worth a run by hand.
"""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

FIRST, LAST, BROKEN = 1, 20, 13
X = [1.0, 2.0, 5.0]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Client(threading.Thread):
    """Asks one request after the other until it is stopped."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.stopped = port, threading.Event()
        self.answers, self.seen, self.failed, self.mixed = 0, set(), [], []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.stopped.is_set():
            try:
                connection.request("POST", "/v1/models/line:predict", json.dumps({"inputs": X}))
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    self.failed.append(f"{answer.status} {body[:200]}")
                    continue
                outputs = json.loads(body)["outputs"]
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
                connection.close()
                continue
            self.answers += 1
            offsets = {y - x / 2 for name in ("y", "z") for x, y in zip(X, outputs[name])}
            self.seen |= offsets
            if len(offsets) != 1:
                self.mixed.append(str(outputs))


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def wait_for(what, holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"FAILED: {what}")
        time.sleep(0.02)


def live_bytes(port):
    return sum(float(n) for n in re.findall(r"^tandem_model_bytes\{.*\} (.*)$", get(port, "/metrics")[1], re.M))


def resident_mb(process):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024


def publish(models_program, folder, version):
    """A version appears as a whole; the broken one lacks the end of a file."""
    subprocess.run([models_program, folder + "/made", "line", str(version)], check=True)
    made = f"{folder}/made/line/{version}"
    if version == BROKEN:
        path = made + "/variables.safetensors"
        os.truncate(path, os.path.getsize(path) - 1)
    os.rename(made, f"{folder}/line/{version}")


def run(server_program, models_program, folder, seconds, clients):
    port = free_port()
    os.makedirs(folder + "/line")
    publish(models_program, folder, FIRST)
    server = subprocess.Popen([server_program, "--port", "0", "--rest_api_port", str(port), "--model_name", "line", "--model_base_path",
                               folder + "/line", "--file_system_poll_wait_seconds", "0.05", "--max_num_load_retries", "1",
                               "--drain_seconds", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def is_ready():
            try:
                return get(port, "/v2/health/ready")[0] == 200
            except OSError:
                return False

        wait_for("the server is ready", is_ready)
        threads = [Client(port) for _ in range(clients)]
        for t in threads:
            t.start()
        time.sleep(seconds / 10)
        bytes_before, resident_before = live_bytes(port), resident_mb(server)
        for version in range(FIRST + 1, LAST + 1):
            publish(models_program, folder, version)
            time.sleep(seconds / 20)
        wait_for("the last version answers", lambda: all(float(LAST) in t.seen for t in threads))
        for t in threads:
            t.stopped.set()
            t.join()
        wait_for("live bytes are back", lambda: live_bytes(port) == bytes_before)
        growth = resident_mb(server) - resident_before
        states = {s["version"]: s for s in json.loads(get(port, "/v1/models/line")[1])["model_version_status"]}
        failed, mixed = sum((t.failed for t in threads), []), sum((t.mixed for t in threads), [])
        seen = set().union(*(t.seen for t in threads))
        print(f"{sum(t.answers for t in threads)} answers of versions {sorted(map(int, seen))}, {len(failed)} failed, {len(mixed)} mixed, "
              f"resident memory {growth:+.1f} MB")
        problems = failed[:3] + mixed[:3]
        if float(BROKEN) in seen or str(LAST) not in states:
            problems.append(f"the broken version answered, or the last one is not there: {states}")
        if growth > 16:
            problems.append(f"resident memory grew by {growth:.1f} MB")
    finally:
        server.terminate()
        status = server.wait(60)
    if status != 0:
        problems.append(f"model_server ended with {status}")
    return problems


def main():
    server_program, models_program = sys.argv[1:3]
    seconds = min(float(sys.argv[3]) if len(sys.argv) > 3 else 4, 600)
    clients = min(int(sys.argv[4]) if len(sys.argv) > 4 else 4, 64)
    folder = tempfile.mkdtemp()
    try:
        problems = run(server_program, models_program, folder, seconds, clients)
    finally:
        shutil.rmtree(folder)
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
