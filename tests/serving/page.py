"""The web page of model_server in a headless Chromium: models, their state and speed, and forms that answer.

python3 tests/serving/page.py MODEL_SERVER SERVING_MODELS [FOLDER], where the first is the built example and the second the built
tests/readers/serving_models.cpp. FOLDER gets screenshots. The status is 77 without chromedriver and Chromium.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples"))
import digits_web

STRANGE = '<img src=x onerror="document.title = 1">&amp;'
STATE = """return {title: document.title, answer: document.getElementById('answer').textContent,
  isError: document.getElementById('answer').className === 'error', wide: document.documentElement.scrollWidth > window.innerWidth,
  rows: [...document.querySelectorAll('#models tr')].map(r => [...r.children].map(c => c.textContent)),
  lines: Math.max(...[...document.querySelectorAll('#models td:nth-child(3)')].map(c => {
    const all = document.createRange();
    all.selectNodeContents(c);
    return all.getClientRects().length;
  })),
  images: document.images.length, field: (document.querySelector('textarea') || {}).value || '',
  files: document.querySelectorAll('input[type=file]').length,
  foreign: performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith(location.origin + '/'))}"""


class Page(digits_web.Browser):
    def state(self):
        return self.call("POST", "/execute/sync", {"script": STATE, "args": []})

    def open(self, model):
        script = "[...document.querySelectorAll('#models button')].find(b => b.textContent === arguments[0]).click()"
        self.call("POST", "/execute/sync", {"script": script, "args": [model]})
        self.wait(f"the form of {model}", lambda _: self.call("POST", "/execute/sync", {
            "script": "return document.getElementById('title').textContent", "args": []}).startswith(model + ","))

    def write(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def check(driver, address, folder, pictures, width):
    page = Page(driver, width, 800)
    try:
        page.call("POST", "/url", {"url": address})
        state = page.wait("three models", lambda s: len(s["rows"]) == 3)
        assert sorted(row[0] for row in state["rows"]) == sorted(["half", "texts", STRANGE]), state
        assert all(row[2] == "AVAILABLE" for row in state["rows"]) and state["images"] == 0 and state["title"] == "Models", state
        page.open("half")
        page.write("textarea", "[1, 2, 5]")
        page.press("#form button")
        page.wait("half plus two", lambda s: "4.5" in s["answer"] and not s["isError"])
        page.wait("requests a second", lambda s: any(row[0] == "half" and float(row[3] or 0) > 0 for row in s["rows"]))
        page.write("textarea", "x")
        page.press("#form button")
        page.wait("what is not JSON", lambda s: s["isError"] and "is not JSON" in s["answer"])
        page.open("texts")
        page.write("input[type=file]", folder + "/upload.txt")
        page.wait("the file's bytes", lambda s: s["field"] == '[{"b64":"R3LDvMOfZQ=="}]')
        page.press("#form button")
        state = page.wait("the text of the file", lambda s: "Grüße" in s["answer"])
        assert state["files"] == 1 and not state["wide"] and state["lines"] == 1, state
        assert not state["foreign"], f"loaded from elsewhere: {state['foreign']}"
        if pictures:
            page.screenshot(f"{pictures}/page_{width}.png")
        problems = [entry for entry in page.console() if entry["level"] in ("SEVERE", "WARNING")]
        assert not problems, problems
    finally:
        page.close()


def main():
    program, models = sys.argv[1:3]
    if not shutil.which("chromedriver") or not (shutil.which("chromium") or shutil.which("google-chrome")):
        with open(os.environ.get("TANDEM_SKIPPED", os.devnull), "w") as file:
            file.write("the page of model_server in a browser: chromium and chromium-driver are not installed\n")
        return 77
    folder, rest, port = tempfile.mkdtemp(), free_port(), free_port()
    subprocess.run([models, folder], check=True)
    named = {"half": "half", "texts": "texts", STRANGE.replace('"', '\\"'): "half"}
    with open(folder + "/models.config", "w") as config:
        config.write("model_config_list { " + "".join(f'config {{ name: "{n}" base_path: "{folder}/{p}" }} ' for n, p in named.items()) + "}")
    with open(folder + "/upload.txt", "w", encoding="utf-8") as file:
        file.write("Grüße")
    server = subprocess.Popen([program, "--model_config_file", folder + "/models.config", "--port", "0", "--rest_api_port", str(rest),
                               "--drain_seconds", "0"], stdout=subprocess.DEVNULL)
    driver = subprocess.Popen(["chromedriver", f"--port={port}", "--log-level=OFF"], stdout=subprocess.DEVNULL)
    try:
        for address in (f"http://127.0.0.1:{rest}/v2/health/ready", f"http://127.0.0.1:{port}/status"):
            for _ in range(200):
                try:
                    urllib.request.urlopen(address, timeout=5)
                    break
                except OSError:
                    time.sleep(0.1)
        for width in (1000, 380):
            check(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{rest}/", folder, sys.argv[3] if len(sys.argv) > 3 else None, width)
    finally:
        driver.terminate()
        driver.wait(30)
        server.terminate()
        status = server.wait(60)
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
