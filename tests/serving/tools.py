"""Programs that are not ours ask model_server: curl, h2load, wrk, promtool, openssl, and nginx between them.

python3 tests/serving/tools.py MODEL_SERVER SERVING_MODELS, where the first is the built example and the second the built
tests/readers/serving_models.cpp. All is bounded, and on loopback. Programs that are not installed are left out and named in the
file $TANDEM_SKIPPED; then the status is 77 if all others agree. Debian: apt-get install curl nghttp2-client wrk prometheus openssl
nginx-light.
"""

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

FAILED = []
PREDICT = "/v1/models/half:predict"
METHOD = "/tensorflow.serving.PredictionService/Predict"
CALLS = 2000


def check(what, holds, output=""):
    print("ok  " if holds else "FAIL", what, flush=True)
    if not holds:
        FAILED.append(what)
        print(output, flush=True)


def run(*command, text=""):
    """Status and output of a program."""
    done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, errors="replace", timeout=120)
    return done.returncode, done.stdout + done.stderr


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    sys.exit(f"FAILED: {what}")


def can_connect(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A running model_server with the model half."""

    def __init__(self, program, folder, *flags):
        self.port, self.rest_port = free_port(), free_port()
        self.rest = f"http://127.0.0.1:{self.rest_port}"
        self.process = subprocess.Popen([program, "--model_name", "half", "--model_base_path", folder + "/half", "--port", str(self.port),
                                         "--rest_api_port", str(self.rest_port), "--drain_seconds", "0", *flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        wait_for("the server listens", lambda: can_connect(self.rest_port))
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check("SIGTERM ends model_server with 0", self.process.wait(60) == 0)


def predict_message():
    """A PredictRequest of [1, 2, 5] as a message of gRPC."""
    def field(number, value):
        return bytes([number << 3 | 2, len(value)]) + value
    tensor = b"\x08\x01" + field(2, field(2, b"\x08\x03")) + field(4, struct.pack("<3f", 1, 2, 5))
    request = field(1, field(1, b"half")) + field(2, field(1, b"x") + field(2, tensor))
    return b"\0" + struct.pack(">I", len(request)) + request


def curl(server, folder):
    body = '{"instances": [1.0, 2.0, 5.0]}'
    answer = '{"y":2.5,"z":2.5},{"y":3.0,"z":3.0},{"y":4.5,"z":4.5}'
    code, out = run("curl", "-s", "-d", body, server.rest + PREDICT)
    check("curl: predict", code == 0 and answer in out, out)
    code, out = run("curl", "-s", "--compressed", "-H", "Transfer-Encoding: chunked", "-T", "-", "-X", "POST", server.rest + PREDICT, text=body)
    check("curl: a body in pieces", code == 0 and answer in out, out)
    large = json.dumps({"instances": [0.5] * 300_000})  # 1.5 MB: curl waits for 100 Continue
    with open(folder + "/large.json", "w") as file:
        file.write(large)
    code, out = run("curl", "-s", "--compressed", "-o", folder + "/out", "-w", "%{http_code} %{size_download}", "-d",
                    "@" + folder + "/large.json", server.rest + PREDICT)
    with open(folder + "/out") as file:
        rows = json.load(file)["predictions"]
    check("curl: 1.5 MB after 100 Continue, a compressed answer", out.startswith("200 ") and len(rows) == 300_000
          and all(r == {"y": 2.25, "z": 2.25} for r in rows), out)
    code, out = run("curl", "-s", "-I", server.rest + "/v2", server.rest + "/metrics")
    check("curl: HEAD, twice on one connection", code == 0 and out.count("HTTP/1.1 200 OK") == 2 and "Content-Length: 0" not in out, out)
    code, out = run("curl", "-s", "-w", "%{http_code}", "-X", "OPTIONS", server.rest + PREDICT, "--next",
                    "-s", server.rest + "/v2/health/live")
    check("curl: OPTIONS, and the next request", code == 0 and out.startswith("204") and '{"live":true}' in out, out)


def h2load(server, folder):
    with open(folder + "/message", "wb") as file:
        file.write(predict_message())
    code, out = run("h2load", "-n", CALLS, "-c", 4, "-m", 8, "-d", folder + "/message", "-H", "content-type: application/grpc", "-H",
                    "te: trailers", f"http://127.0.0.1:{server.port}{METHOD}")
    check("h2load: gRPC, 32 calls at a time", code == 0 and f"{CALLS} succeeded, 0 failed, 0 errored, 0 timeout" in out, out)
    _, metrics = run("curl", "-s", server.rest + "/metrics")
    check("h2load: every call was answered by the model", re.search(
        rf'^tandem_requests_total{{code="OK",model="half",protocol="grpc",.*}} {CALLS}$', metrics, re.M), metrics)


def wrk(server, folder):
    with open(folder + "/post.lua", "w") as file:
        file.write('wrk.method = "POST"\nwrk.body = \'{"instances": [1.0, 2.0, 5.0]}\'\n')
    code, out = run("wrk", "-t", 1, "-c", 16, "-d", "2s", "-s", folder + "/post.lua", server.rest + PREDICT)
    check("wrk: REST, 16 connections", code == 0 and re.search(r"[1-9]\d* requests in", out) and "Non-2xx" not in out
          and "Socket errors" not in out, out)


def promtool(server, _folder):
    for path in ("/metrics", "/monitoring/prometheus/metrics"):
        _, metrics = run("curl", "-s", server.rest + path)
        code, out = run("promtool", "check", "metrics", text=metrics)
        # It reads the format first, and then has opinions about names: those of TensorFlow Serving cannot please it.
        strange = [line for line in out.splitlines() if not line.startswith(":tensorflow:serving:")]
        check(f"promtool: {path}", code in (0, 3) and "tandem_requests_total" in metrics and not strange, out)


def certificate(folder, name):
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 1, "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/new.pem")
    os.rename(f"{folder}/new.pem", f"{folder}/chain.pem")
    return run("openssl", "x509", "-in", f"{folder}/chain.pem", "-noout", "-fingerprint")[1]


def openssl(program, folder):
    first = certificate(folder, "first")
    with open(folder + "/ssl.config", "w") as file:
        file.write(f'server_key: "{folder}/key.pem" server_cert: "{folder}/chain.pem"')
    with Server(program, folder, "--ssl_config_file", folder + "/ssl.config") as server:
        def connect(port, *flags):
            return run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", folder + "/chain.pem", "-verify_return_error",
                       *flags)[1]

        def fingerprint(port, *flags):
            return run("openssl", "x509", "-noout", "-fingerprint", text=connect(port, *flags))[1]

        for port, name, flags in (server.rest_port, "REST", []), (server.port, "gRPC", ["-alpn", "h2"]):
            for version in "1.2", "1.3":
                out = connect(port, "-tls" + version.replace(".", "_"), *flags)
                check(f"openssl: TLS {version}, {name}", f"TLSv{version}" in out and "Verify return code: 0 (ok)" in out, out)
            out = connect(port, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0", *flags)
            check(f"openssl: no TLS 1.1, {name}", "Verify return code: 0 (ok)" not in out or "Cipher is (NONE)" in out, out)
            check(f"openssl: the certificate, {name}", fingerprint(port, *flags) == first)
        second = certificate(folder, "second")
        server.process.send_signal(signal.SIGHUP)
        for port, flags in (server.rest_port, []), (server.port, ["-alpn", "h2"]):
            wait_for("the new certificate is shown after SIGHUP", lambda: fingerprint(port, *flags) == second)


def nginx(server, folder):
    rest, grpc = free_port(), free_port()
    with open(folder + "/nginx.conf", "w") as file:
        file.write(f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
  scgi_temp_path {folder}/s;
  upstream rest {{ server 127.0.0.1:{server.rest_port}; keepalive 4; }}
  server {{ listen 127.0.0.1:{rest}; location / {{ proxy_pass http://rest; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}
  server {{ listen 127.0.0.1:{grpc} http2; location / {{ grpc_pass grpc://127.0.0.1:{server.port}; }} }}
}}
""")
    proxy = subprocess.Popen(["nginx", "-p", folder, "-e", folder + "/nginx.log", "-c", folder + "/nginx.conf"])
    try:
        wait_for("nginx listens", lambda: can_connect(rest) and can_connect(grpc))
        urls = [f"http://127.0.0.1:{rest}{PREDICT}"] * 50
        code, out = run("curl", "-s", "-d", '{"instances": [1.0]}', *urls)
        check("nginx: 50 requests of REST", code == 0 and out.count('{"y":2.5,"z":2.5}') == 50, out)
        code, out = run("curl", "-s", "-I", *[f"http://127.0.0.1:{rest}/v2"] * 3)
        check("nginx: HEAD", code == 0 and out.count("200 OK") == 3, out)
        with open(folder + "/message", "wb") as file:
            file.write(predict_message())
        code, out = run("curl", "-s", "--http2-prior-knowledge", "-D", "-", "-o", folder + "/out", "-H", "content-type: application/grpc",
                        "-H", "te: trailers", "--data-binary", "@" + folder + "/message", f"http://127.0.0.1:{grpc}{METHOD}")
        with open(folder + "/out", "rb") as file:
            body = file.read()
        check("nginx: gRPC", code == 0 and struct.pack("<3f", 2.5, 3, 4.5) in body, out)
    finally:
        proxy.send_signal(signal.SIGQUIT)
        proxy.wait(60)


def main():
    program, models = sys.argv[1:3]
    tools = {"curl": curl, "h2load": h2load, "wrk": wrk, "promtool": promtool, "nginx": nginx}
    missing = [tool for tool in [*tools, "openssl"] if not shutil.which(tool)]
    folder = tempfile.mkdtemp()
    try:
        subprocess.run([models, folder], check=True)
        if "curl" not in missing:  # the others use it
            with Server(program, folder) as server:
                wait_for("the model is there", lambda: run("curl", "-s", server.rest + "/v2/health/ready")[1] == '{"ready":true}')
                for tool, ask in tools.items():
                    if tool not in missing:
                        ask(server, folder)
        if "openssl" not in missing:
            openssl(program, folder)
    finally:
        shutil.rmtree(folder)
    if FAILED:
        return 1
    if missing and "TANDEM_SKIPPED" in os.environ:
        with open(os.environ["TANDEM_SKIPPED"], "w") as file:
            file.write(f"model_server asked by {', '.join(missing)}: not installed\n")
    return 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
