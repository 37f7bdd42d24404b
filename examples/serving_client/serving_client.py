"""Asks a model server over REST, with Python's own library.

python serving_client.py half 1 2 5        prints [2.5, 3.0, 4.5]

The same functions in a program:  from serving_client import predict;  predict("half", [1.0, 2.0, 5.0])
"""

import argparse
import json
import sys
import time
import urllib.error
import urllib.request


def predict(model, instances, signature="serving_default", address="http://127.0.0.1:8501", token=None, timeout=30, tries=3):
    """The predictions for instances: numbers, nested lists, or dicts by input. Tries again when the server is busy (429, 503).

    Raises ValueError with the server's text for a request that it refuses, OSError if it does not answer.
    """
    body = json.dumps({"signature_name": signature, "instances": instances}).encode()
    headers = {"Content-Type": "application/json", "X-Request-Timeout-Ms": str(int(timeout * 1000))}
    if token:
        headers["Authorization"] = "Bearer " + token
    for attempt in range(1, tries + 1):
        request = urllib.request.Request(f"{address}/v1/models/{model}:predict", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)["predictions"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == tries:
                raise ValueError(json.load(error)["error"]) from None
            time.sleep(float(error.headers.get("Retry-After", 1)))


def main():
    arguments = argparse.ArgumentParser(description="Asks a model server.")
    arguments.add_argument("model", help="the model; with a version: half/versions/3")
    arguments.add_argument("instances", nargs="+", help="each a row of the input, as JSON")
    arguments.add_argument("--address", default="http://127.0.0.1:8501")
    arguments.add_argument("--signature", default="serving_default")
    arguments.add_argument("--token")
    given = arguments.parse_args()
    try:
        print(predict(given.model, [json.loads(i) for i in given.instances], given.signature, given.address, given.token))
    except (ValueError, OSError) as error:
        sys.exit(f"serving_client.py: {error}")


if __name__ == "__main__":
    main()
