"""Sends model_server what its /openapi.json allows, and what it does not, by schemathesis, which checks the answers.

python tests/readers/serving_openapi.py MODEL_SERVER SERVING_MODELS [EXAMPLES], where the first is the built example, the second the
built tests/readers/serving_models.cpp, and EXAMPLES how many requests each path gets of each kind (50). Needs pip install
schemathesis grpcio numpy. Not part of ./dev test. Everything stays on loopback.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

from serving_clients import FAILED, Server, check

# What a schema cannot say: `data` has as many elements as `shape` says.
CONFIG = """
[[operations]]
include-path-regex = "/infer$"
checks.positive_data_acceptance.enabled = false
"""

# A whole number that float32 does not have is refused, as a wrong number; 16777217.0 is rounded. JSON Schema knows one number.
# And Infinity and NaN, which answers may have as in TensorFlow Serving, are not JSON.
HOOKS = """
import re
import schemathesis

def as_float32(x):
    if isinstance(x, dict):
        return {key: as_float32(value) for key, value in x.items()}
    if isinstance(x, list):
        return [as_float32(value) for value in x]
    return float(x) if isinstance(x, int) and not isinstance(x, bool) and abs(x) > 1 << 24 else x

@schemathesis.hook
def map_body(context, body):
    return as_float32(body)

@schemathesis.hook
def after_call(context, case, response):
    if "json" in response.headers.get("content-type", [""])[0]:
        response.content = re.sub(rb"-?Infinity|NaN", b"0.0", response.content)
"""


def main():
    server_program, models_program, *examples = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([models_program, folder], check=True)
        for name, text in ("schemathesis.toml", CONFIG), ("hooks.py", HOOKS):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        with Server(server_program, folder) as server:
            url = f"http://127.0.0.1:{server.rest_port}/openapi.json"
            with urllib.request.urlopen(url, timeout=30) as answer:
                paths = json.load(answer)["paths"]
            check("paths of three models", {"/v1/models/half:predict", "/v1/models/examples:classify", "/v2/models/texts/infer"} <= set(paths))
            command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", url, "--mode", "all",
                       "--max-examples", examples[0] if examples else "50", "--generation-database", "none", "--seed", "1"]
            done = subprocess.run(command, cwd=folder, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": folder}, check=False)
            check(f"schemathesis: {len(paths)} paths", done.returncode == 0)
            with urllib.request.urlopen(f"http://127.0.0.1:{server.rest_port}/v2/health/ready", timeout=30) as answer:
                check("the server still answers", answer.status == 200)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
