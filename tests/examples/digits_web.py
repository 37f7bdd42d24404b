"""The page of digits_web in a headless Chromium: a 7 that is drawn is taken for a 7. Usage: digits_web.py ADDRESS [FOLDER]

Speaks WebDriver's protocol itself. FOLDER gets screenshots. The caller sees to it that chromedriver is there.
"""

import base64
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

SEVEN = [(60, 60), (215, 60), (130, 240)]  # corners, on a field of 280 x 280
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
STATE = """return {values: [...document.querySelectorAll('progress')].map(b => b.value), said: document.getElementById('said').textContent,
  wide: document.documentElement.scrollWidth > window.innerWidth, drawn: document.getElementById('field').toDataURL().length,
  foreign: performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith(location.origin + '/'))}"""


class Browser:
    def __init__(self, driver, width, height):
        self.driver = driver
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]}
        asked = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}}
        self.session = self.call("POST", "/session", asked, session="")["sessionId"]
        # The size of the page itself, below what a window can have.
        self.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def call(self, method, path, body=None, session=None):
        prefix = "/session/" + self.session if session is None else session
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.driver + prefix + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.read().decode()[:2000]}")

    def cdp(self, command, parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def state(self):
        return self.call("POST", "/execute/sync", {"script": STATE, "args": []})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def draw(self, corners):
        """With the mouse, along lines between the corners."""
        field = {ELEMENT: self.find("#field")}
        scale = self.call("POST", "/execute/sync", {"script": "return document.getElementById('field').getBoundingClientRect().width / 280", "args": []})
        moves = [{"type": "pointerMove", "duration": 60, "origin": field, "x": round((x - 140) * scale), "y": round((y - 140) * scale)} for x, y in corners]
        moves[0]["duration"] = 0
        moves.insert(1, {"type": "pointerDown", "button": 0})
        moves.append({"type": "pointerUp", "button": 0})
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]})

    def type(self, keys, held=None):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        if held:
            actions = [{"type": "keyDown", "value": held}, *actions, {"type": "keyUp", "value": held}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, what, holds):
        """The page's state as soon as it holds; the last one after 10 s."""
        for _ in range(100):
            state = self.state()
            if holds(state):
                return state
            time.sleep(0.1)
        sys.exit(f"FAILED: {what}: {state}, console: {self.console()}")

    def console(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        self.call("DELETE", "")


def is_seven(state):
    return state["values"].index(max(state["values"])) == 7 and max(state["values"]) > 0.5 and "looks like a 7" in state["said"]


def check(driver, address, folder, width, height):
    browser = Browser(driver, width, height)
    try:
        browser.call("POST", "/url", {"url": address})
        empty = browser.wait("ten bars", lambda s: len(s["values"]) == 10 and max(s["values"]) == 0)
        browser.draw(SEVEN)
        state = browser.wait(f"a 7 at {width} pixels", is_seven)
        assert not state["wide"], f"the page is wider than {width} pixels"
        assert not state["foreign"], f"loaded from elsewhere: {state['foreign']}"
        if folder:
            browser.screenshot(f"{folder}/digits_web_{width}.png")
        browser.call("POST", f"/element/{browser.find('#clear')}/click")
        browser.wait("Clear", lambda s: s["drawn"] == empty["drawn"] and max(s["values"]) == 0 and s["said"] == "")
        # By keyboard alone: from the middle, without the pen to where the 7 begins, and with it along the 7.
        left, up, right, down = "\ue012", "\ue013", "\ue014", "\ue015"
        browser.type(["\ue004"], held="\ue008")  # from the button back to the field, by Shift and Tab
        browser.type([left] * 8 + [up] * 8 + [" "] + [right] * 15 + [down, down, left] * 9)
        browser.wait("a 7 by keyboard", is_seven)
        browser.type(["\ue017"])  # Delete
        browser.wait("Delete", lambda s: s["drawn"] == empty["drawn"])
        problems = [entry for entry in browser.console() if entry["level"] in ("SEVERE", "WARNING")]
        assert not problems, f"console: {problems}"
    finally:
        browser.close()


def main():
    address, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    process = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if "on port " in line:
                port = line.rpartition("on port ")[2].strip(" .\n")
                if port != "0":
                    break
        else:
            sys.exit("chromedriver does not start")
        for width, height in (1000, 800), (360, 740):
            check("http://127.0.0.1:" + port, address, folder, width, height)
    finally:
        process.terminate()
        process.wait()
    print("ok")


if __name__ == "__main__":
    main()
