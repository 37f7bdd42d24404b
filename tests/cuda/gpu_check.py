#!/usr/bin/env python3
"""Checks Tandem on a machine with an NVIDIA GPU, from the archive that ./dev gpu makes.

    tar -xf tandem_gpu.tar.xz && python3 tandem_gpu/gpu_check.py [--out results.json] [part=seconds ...]

Needs the driver, cuBLASLt, cuBLAS, cuSOLVER and cuFFT of the toolkit's major version (in the loader's path, in CUDA_HOME or
in Python's nvidia packages), and for the parts: compute-sanitizer of the toolkit, PyTorch with CUDA. cuDNN 9, where it is
found in the same places, computes the convolutions.

Parts, each ended after its seconds; without any, all run:
    device      the tests of the CUDA kernels and devices
    suite       all other tests that pass on the emulator, with their tensors on the GPU
    memcheck, racecheck, initcheck, synccheck
                the tests of `device` under a tool of compute-sanitizer
    bench       steps beside PyTorch's in the same minutes, as ratios of times
"""

import argparse
import concurrent.futures
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = {"device": 120, "suite": 180, "memcheck": 150, "racecheck": 150, "initcheck": 150, "synccheck": 150, "bench": 120}
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
LOST = re.compile(r"illegal|misaligned|launch failure|context is destroyed|device-side assert")


def environment():
    """The libraries of the archive and of the machine's CUDA in the loader's path, and the test files."""
    e = dict(os.environ)
    if os.path.isdir(HERE + "/tests"):
        e["TANDEM_SOURCE"] = HERE
    folders = [HERE + "/lib"]
    for pattern in ("/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/x86_64-linux/lib"):
        folders += glob.glob(pattern)
    found = subprocess.run([shutil.which("python3") or sys.executable, "-c", "import nvidia; print(*nvidia.__path__, sep='\\n')"],
                           capture_output=True, text=True)
    for path in found.stdout.split():
        folders += glob.glob(path + "/*/lib")
    e["LD_LIBRARY_PATH"] = ":".join(folders + [e.get("LD_LIBRARY_PATH", "")])
    return e


def names_of(program, env):
    text = subprocess.run([program, "--list-test-names-only"], capture_output=True, text=True, env=env).stdout
    return [line for line in text.split("\n") if line]


def run_tests(program, names, env, limit, wrapper=()):
    """Runs tests of a program in one process. name -> {"passed", "why", "seconds"}; those not reached are absent."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(re.sub(r"([\\,])", r"\\\1", n) + "\n" for n in names))
        file.flush()
        command = [*wrapper, program, "-f", file.name, "-r", "xml", "-d", "yes"]
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=max(limit, 1))
            text, ended = ran.stdout.decode(errors="replace"), f"the program ended with status {ran.returncode}"
        except subprocess.TimeoutExpired as e:
            text, ended = (e.stdout or b"").decode(errors="replace"), "out of time"
    results = {}
    for piece in re.split(r"<TestCase ", text)[1:]:
        name = html.unescape(re.match(r'name="([^"]*)"', piece).group(1))
        result = re.search(r'<OverallResult success="(\w+)"(?: durationInSeconds="([^"]*)")?', piece)
        if not result:
            results[name] = {"passed": False, "why": ended}
            fatal = re.search(r"<FatalErrorCondition[^>]*>(.*?)</FatalErrorCondition>", piece, re.S)
            if fatal:
                results[name]["why"] = html.unescape(fatal.group(1)).strip()
            continue
        texts = re.finditer(r"<(Exception|Failure|FatalErrorCondition)\b[^>]*>(.*?)</\1>", piece, re.S)
        why = next((t for t in texts if "Exception translation was disabled" not in t.group(2)), None)
        if not why:
            why = re.search(r'<Expression success="false"[^>]*line="(\d+)"[^>]*>(.*?)</Expression>', piece, re.S)
        info = " | ".join(html.unescape(i).strip() for i in re.findall(r"<Info>(.*?)</Info>", piece, re.S)[-6:])
        text_of_why = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", why.group(2)))).strip() if why else ""
        results[name] = {"passed": result.group(1) == "true", "seconds": float(result.group(2) or 0)}
        if result.group(1) != "true":
            results[name]["why"] = (text_of_why + (" [" + info + "]" if info else ""))[:700]
    return results, text


def run_all(program, names, env, seconds, chunk, workers):
    """Runs tests in processes of `chunk` tests; what a crash or a lost device took along runs again, alone."""
    end = time.monotonic() + seconds
    done = {}

    def part(some):
        return run_tests(program, some, env, min(end - time.monotonic(), 20 + 10 * len(some)))[0]

    def sweep(names, chunk):
        pieces = [names[i : i + chunk] for i in range(0, len(names), chunk)]
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for piece, results in zip(pieces, pool.map(part, pieces)):
                lost = False
                for name in piece:
                    r = results.get(name)
                    if r is None or lost and not r["passed"]:
                        continue
                    done[name] = r
                    lost = lost or bool(LOST.search(r.get("why", "")))

    sweep(names, chunk)
    again = [n for n in names if n not in done]
    if again and chunk > 1 and time.monotonic() < end:
        sweep(again, 1)
    for n in names:
        done.setdefault(n, {"passed": False, "why": "not run: out of time"})
    return done


def sanitize(tool, program, names, env, seconds, workers):
    binary = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(binary):
        return {"skipped": "no compute-sanitizer"}
    wrapper = [binary, "--tool", tool, "--print-limit", "20"]
    end, reports, ran, slow = time.monotonic() + seconds, [], 0, []

    def run(name):  # one process a test: a slow one does not cost the others
        left = end - time.monotonic()
        return run_tests(program, [name], env, min(left, 60), wrapper) if left >= 5 else None

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for name, done in zip(names, pool.map(run, names)):
            if not done:
                continue
            results, text = done
            if results.get(name, {}).get("why") == "out of time":
                slow.append(name)
                continue
            if "before first instrumented API call" in text:  # it does not use the GPU
                continue
            ran += 1
            errors = [line for line in text.split("\n") if line.startswith("=========") and not line.startswith("========= COMPUTE")]
            if not re.search(r"(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)", text):
                reports.append({"test": name, "text": "\n".join(errors[:60])[:6000], "result": results.get(name)})
    return {"tests": ran, "of": len(names), "reports": reports, "out_of_time": slow}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="gpu_results.json")
    parser.add_argument("--program", default=HERE + "/bin/gpu_tests")
    parser.add_argument("--device", default="GPU:0")
    parser.add_argument("--chunk", type=int, default=16)
    parser.add_argument("--workers", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--tests", help="a file with the names of the tests of `suite` (suite.txt beside this file)")
    parser.add_argument("--list-passed", help="writes the names of the tests of `suite` that passed")
    parser.add_argument("parts", nargs="*", help="part or part=seconds")
    args = parser.parse_args()
    wanted = {}
    for p in args.parts or PARTS:
        name, _, seconds = p.partition("=")
        if name not in PARTS:
            parser.error(f"no part {name}; there are {', '.join(PARTS)}")
        wanted[name] = float(seconds or PARTS[name])

    env, report = environment(), {}
    smi = shutil.which("nvidia-smi")
    query = [smi, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    report["machine"] = subprocess.run(query, capture_output=True, text=True).stdout.strip() if smi else "no nvidia-smi"
    print(report["machine"], flush=True)
    names = names_of(args.program, env)
    kernels = [n for n in names if n.startswith("CUDA")]
    suite = [n for n in names if not n.startswith("CUDA")]
    tests = args.tests or HERE + "/suite.txt"
    if os.path.exists(tests):
        with open(tests) as file:
            allowed = set(file.read().split("\n"))
        suite = [n for n in suite if n in allowed]

    def save():
        with open(args.out, "w") as file:
            json.dump(report, file, indent=1)

    failed = False
    for part, tests, device in (("device", kernels, None), ("suite", suite, args.device)):
        if part not in wanted:
            continue
        e = dict(env, TANDEM_TEST_DEVICE=device) if device else env
        start = time.monotonic()
        results = run_all(args.program, tests, e, wanted[part], 2 if part == "device" else args.chunk, args.workers)
        report[part] = results
        bad = {n: r for n, r in results.items() if not r["passed"]}
        failed = failed or bool(bad)
        print(f"\n== {part}: {len(results) - len(bad)} of {len(results)} passed, {time.monotonic() - start:.0f} s", flush=True)
        for n, r in list(bad.items())[:80]:
            print(f"  {n}: {r['why'][:300]}", flush=True)
        save()
        if part == "suite" and args.list_passed:
            with open(args.list_passed, "w") as file:
                file.writelines(n + "\n" for n, r in results.items() if r["passed"])

    tools = [t for t in TOOLS if t in wanted]
    with concurrent.futures.ThreadPoolExecutor(len(TOOLS)) as pool:
        running = {t: pool.submit(sanitize, t, args.program, kernels, env, wanted[t], max(1, args.workers // len(tools))) for t in tools}
        for tool, future in running.items():
            report[tool] = future.result()
            r = report[tool]
            failed = failed or bool(r.get("reports"))
            print(f"\n== {tool}: " + (r.get("skipped") or f"{r['tests']} of {r['of']} tests, {len(r['reports'])} with findings"))
            for found in r.get("reports", [])[:5]:
                print(f"  {found['test']}\n{found['text'][:1500]}", flush=True)
            save()

    if "bench" in wanted:
        command = [shutil.which("python3") or sys.executable, HERE + "/compare.py", HERE + "/bin/cuda_steps"]
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=wanted["bench"])
            report["bench"] = ran.stdout.decode()
        except subprocess.TimeoutExpired as e:
            report["bench"] = (e.stdout or b"").decode() + "out of time"
        print("\n== bench\n" + report["bench"], flush=True)
        save()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
