"""Asks a model server over REST, with Python's own library.

python serving_client.py half 1 2 5        prints [2.5, 3.0, 4.5]

The same functions in a program:  from serving_client import predict;  predict("half", [1.0, 2.0, 5.0])
"""

import argparse
import http.client
import json
import socket
import sys
import threading
import time
import urllib.parse


def predict(model, instances, signature="serving_default", address="http://127.0.0.1:8501", token=None, timeout=30,
            tries=3):
    """The predictions for instances: numbers, nested lists, or dicts by input.

    Tries again when the server is busy (429, 503). timeout: seconds, for all of it: connections, every try, and what a
    slow server sends byte by byte; but not the look-up of the host's name. Raises ValueError with the server's text for
    a request that it refuses, OSError if it does not answer (TimeoutError: not in time).
    """
    body = json.dumps({"signature_name": signature, "instances": instances}).encode()
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    end = time.monotonic() + timeout
    for attempt in range(1, tries + 1):
        left = end - time.monotonic()
        headers["X-Request-Timeout-Ms"] = str(max(int(left * 1000), 1))
        status, retry_after, text = post(f"{address}/v1/models/{model}:predict", body, headers, left)
        if status == 200:
            return json.loads(text)["predictions"]
        if status not in (429, 503) or attempt == tries or time.monotonic() + retry_after >= end:
            raise ValueError(json.loads(text)["error"])
        time.sleep(retry_after)


def post(url, body, headers, seconds):
    """The status of an answer, its Retry-After, and its text. Raises OSError if there is none in so many seconds."""
    place = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = kind(place.hostname, place.port, timeout=max(seconds, 0.001))
    is_late = threading.Event()

    def stop():  # ends what waits for the socket; its own timeout counts from the last byte
        is_late.set()
        if connection.sock:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        connection.connect()
        if not is_late.is_set():
            connection.request("POST", place.path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        if is_late.is_set():
            raise TimeoutError
        return answer.status, float(answer.getheader("Retry-After", 1)), text
    except (OSError, http.client.HTTPException) as error:
        if is_late.is_set() or isinstance(error, TimeoutError):
            raise TimeoutError("the answer takes too long") from None
        raise error if isinstance(error, OSError) else ConnectionError(f"the answer is not HTTP: {error}") from None
    finally:
        timer.cancel()
        connection.close()


def main():
    arguments = argparse.ArgumentParser(description="Asks a model server.")
    arguments.add_argument("model", help="the model; with a version: half/versions/3")
    arguments.add_argument("instances", nargs="+", help="each a row of the input, as JSON")
    arguments.add_argument("--address", default="http://127.0.0.1:8501")
    arguments.add_argument("--signature", default="serving_default")
    arguments.add_argument("--token")
    arguments.add_argument("--timeout", type=float, default=30, help="seconds, for all of it")
    given = arguments.parse_args()
    try:
        instances = [json.loads(i) for i in given.instances]
        print(predict(given.model, instances, given.signature, given.address, given.token, given.timeout))
    except (ValueError, OSError) as error:
        sys.exit(f"serving_client.py: {error}")


if __name__ == "__main__":
    main()
