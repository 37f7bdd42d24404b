"""Tests of distribute with real processes on several machines: network namespaces with links of 1 Gbit/s.

network.py PROGRAM [TANDEM_RUN] [--seed S]   distribute_ranks, connected by Gloo, a rank on each of three machines:
    machines whose own names stand for 127.0.1.1, as Debian has it: they meet by a folder, and others can join one; with
        two networks and no route they ask for TANDEM_INTERFACE
    a link that is cut for a second: training goes on, and all sums are right
    a link that is cut: all ranks raise UnavailableError in time, and the others say who is missing
    a link that comes back when the others have given up: no rank goes on
Exits with status 77 where namespaces or links cannot be made: it needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN.
"""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from processes import TIMEOUT, Ranks, environment

MACHINES = 3
PORT = "29555"


class Skip(Exception):
    pass


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def remove_left_behind():
    """The namespaces of runs that were killed: their names have the number of a process that is no more."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        name = line.split()[0] if line.split() else ""
        of_run = re.fullmatch(r"tandem(\d+)-(switch|\d+)", name)
        if of_run and not os.path.exists(f"/proc/{of_run[1]}"):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Network:
    """Machines behind a switch. All of it is in namespaces, which this process alone uses."""

    def __init__(self, machines=MACHINES):
        self.prefix = f"tandem{os.getpid()}"
        self.machines = [f"{self.prefix}-{i}" for i in range(machines)]
        self.made = []

    def __enter__(self):
        try:
            remove_left_behind()
            self.make()
        except (RuntimeError, FileNotFoundError) as e:
            self.__exit__()
            raise Skip(str(e)) from None
        return self

    def make(self):
        switch = self.namespace("switch")
        call("ip", "-n", switch, "link", "add", "name", "br", "type", "bridge")
        call("ip", "-n", switch, "link", "set", "dev", "br", "up")
        for i in range(len(self.machines)):
            name = self.namespace(i)
            call("ip", "link", "add", "name", "eth", "netns", name, "type", "veth", "peer", "name", f"port{i}", "netns", switch)
            call("ip", "-n", switch, "link", "set", "dev", f"port{i}", "master", "br", "up")
            call("ip", "-n", name, "address", "add", f"192.168.77.{i + 1}/24", "dev", "eth")
            for device in ("lo", "eth"):
                call("ip", "-n", name, "link", "set", "dev", device, "up")
            self.slow(name)

    def namespace(self, name):
        full = f"{self.prefix}-{name}"
        call("ip", "netns", "add", full)
        self.made.append(full)
        return full

    @staticmethod
    def slow(name):
        """With a delay where the kernel has netem, without one where it has only tbf."""
        queue = ["tc", "-n", name, "qdisc", "add", "dev", "eth", "root"]
        try:
            call(*queue, "netem", "rate", "1gbit", "delay", "100us")
        except RuntimeError:
            call(*queue, "tbf", "rate", "1gbit", "burst", "128kb", "latency", "50ms")

    def link(self, machine, state):
        call("ip", "-n", f"{self.prefix}-switch", "link", "set", "dev", f"port{machine}", state)

    def heal(self, machine):
        """Machines know again where the others are, which they had tried in vain."""
        self.link(machine, "up")
        for name in self.machines:
            call("ip", "-n", name, "neighbour", "flush", "dev", "eth")

    def start(self, program, *arguments):
        processes = []
        for i in range(MACHINES):
            e = environment(RANK=str(i), WORLD_SIZE=str(MACHINES), LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
                            MASTER_ADDR="192.168.77.1", MASTER_PORT=PORT)
            inside = ["ip", "netns", "exec", f"{self.prefix}-{i}", "unshare", "--uts", "sh", "-c",
                      f'hostname machine{i}; exec "$@"', "sh", program, *arguments]
            processes.append(subprocess.Popen(inside, env=e, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return Ranks(processes)

    def launch(self, machine, folder, launcher, options, *command, **more):
        """A tandem_run on a machine whose /etc/hosts has its own name at 127.0.1.1, and those of the others."""
        hosts = f"{folder}/hosts{machine}"
        with open(hosts, "w") as f:
            f.write("127.0.0.1 localhost\n")
            f.writelines(f"{'127.0.1.1' if i == machine else f'192.168.77.{i + 1}'} machine{i}\n" for i in range(MACHINES))
        inside = ["ip", "netns", "exec", f"{self.prefix}-{machine}", "unshare", "--uts", "--mount", "sh", "-c",
                  f'mount --bind {hosts} /etc/hosts && hostname machine{machine} && exec "$@"', "sh", launcher,
                  "--rendezvous", folder, *options, "--", *command]
        return subprocess.Popen(inside, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __exit__(self, *_):
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def have_begun(text):
    return len(re.findall(r"rank \d+: step 0\n", text)) == MACHINES


def outputs(processes):
    texts = []
    for process in processes:
        try:
            texts.append(process.communicate(timeout=60)[0])
        except subprocess.TimeoutExpired:
            process.kill()
            texts.append(process.communicate()[0] + "\nstopped after 60 s")
    return texts


def check_names(network, program, launcher):
    """Each rank gives the others an address of its machine that is not the loopback's."""
    nodes = ["--nnodes", str(MACHINES), "--timeout", "30"]
    with tempfile.TemporaryDirectory() as folder:
        texts = outputs([network.launch(i, folder, launcher, [*nodes, "--node-rank", str(i)], program, "train", "20", "30")
                         for i in range(MACHINES)])
    passed = [len(re.findall(r"rank \d+: all passed", text)) for text in texts]
    print(f"by names that stand for 127.0.1.1: {passed} have passed on the machines")
    if passed != MACHINES * [1]:
        yield "by names that stand for 127.0.1.1:\n" + "\n".join(text[-2000:] for text in texts)
    # A single process that others can join gives them such an address, too; it has no others yet.
    with tempfile.TemporaryDirectory() as folder:
        first = network.launch(0, folder, launcher, [], program, "newcomer", "2")
        later = network.launch(1, folder, launcher, ["--join", "--timeout", "30"], program, "newcomer", "2")
        texts = outputs([first, later])
    passed = [len(re.findall(r"rank \d+ of 2: all passed", text)) for text in texts]
    print(f"one joins a process whose name stands for 127.0.1.1: {passed} have passed")
    if passed != [1, 1]:
        yield "one joins a process whose name stands for 127.0.1.1:\n" + "\n".join(text[-2000:] for text in texts)
    name, switch = f"{network.prefix}-0", f"{network.prefix}-switch"  # with a second network it is not known which one counts
    call("ip", "link", "add", "name", "other", "netns", name, "type", "veth", "peer", "name", "unused", "netns", switch)
    call("ip", "-n", switch, "link", "set", "dev", "unused", "up")
    call("ip", "-n", name, "address", "add", "192.168.78.1/24", "dev", "other")
    call("ip", "-n", name, "link", "set", "dev", "other", "up")
    try:
        for interface, expected in (("", r"several networks.*eth \(192\.168\.77\.1\), other \(192\.168\.78\.1\)"), ("eth", "all passed")):
            more = {"TANDEM_INTERFACE": interface} if interface else {}
            with tempfile.TemporaryDirectory() as folder:
                texts = outputs([network.launch(0, folder, launcher, [], program, "train", "20", "5", **more)])
            print(f"two networks, TANDEM_INTERFACE '{interface}': {texts[0].strip().splitlines()[-1][:200]}")
            if not re.search(expected, texts[0]):
                yield f"two networks, TANDEM_INTERFACE '{interface}':\n{texts[0][-2000:]}"
    finally:
        call("ip", "-n", name, "link", "del", "dev", "other")


def check_short_cut(network, program, generator):
    group = network.start(program, "train", "60", "200")
    try:
        if not group.read(60, have_begun):
            yield f"a short cut: did not start:\n{group.text[-2000:]}"
            return
        machine = generator.randrange(MACHINES)
        network.link(machine, "down")
        time.sleep(1)
        network.link(machine, "up")
        group.read(120, lambda text: len(re.findall(r"rank \d+: all passed", text)) == MACHINES)
        passed = len(re.findall(r"rank \d+: all passed", group.text))
        print(f"machine {machine} cut off for a second: {passed} ranks have passed")
        if passed != MACHINES:
            yield f"a short cut of machine {machine}: {passed} ranks have passed:\n{group.text[-3000:]}"
    finally:
        group.end()


def check_cut(network, program, generator, machines):
    group = network.start(program, "train", str(TIMEOUT))
    machine = generator.choice(machines)  # rank 0's keeps the heartbeats
    try:
        if not group.read(60, have_begun):
            yield f"a cut: did not start:\n{group.text[-2000:]}"
            return
        group.read(generator.uniform(0, 1.5))
        network.link(machine, "down")
        group.read(TIMEOUT + 20, lambda text: len(re.findall(r"UNAVAILABLE.*\n", text)) == MACHINES)
        said = re.findall(r"rank (\d+): UNAVAILABLE after ([\d.]+) s in step (\d+): (.*)", group.text)
        print(f"machine {machine} cut off: {'; '.join(f'rank {r} after {waited} s' for r, waited, *_ in said)}")
        if sorted(int(r) for r, *_ in said) != list(range(MACHINES)):
            yield f"machine {machine} cut off: these have raised: {said}:\n{group.text[-3000:]}"
            return
        for rank, waited, step, text in said:
            print(f"  rank {rank}: {text[:200]}")
            if float(waited) > TIMEOUT + 1:
                yield f"machine {machine} cut off: rank {rank} has waited for {waited} s"
            names = rf"rank {machine} \(node machine{machine}\) was last seen|rank 0, which keeps the heartbeats, was last seen"
            if int(rank) != machine and not re.search(names, text):
                yield f"machine {machine} cut off: rank {rank} does not say who is missing: {text}"
        network.heal(machine)
        group.read(1)
        if "FAILED" in group.text or "all passed" in group.text:
            yield f"machine {machine} is back, and a rank went on:\n{group.text[-3000:]}"
    finally:
        group.end()
        network.heal(machine)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("launcher", nargs="?", help="tandem_run")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    print("seed", arguments.seed)
    has_failed = False
    try:
        with Network() as network:
            checks = [check_names(network, arguments.program, arguments.launcher)] if arguments.launcher else []
            checks += [check_short_cut(network, arguments.program, generator)]
            checks += [check_cut(network, arguments.program, generator, machines) for machines in ([0], range(1, MACHINES))]
            for problem in itertools.chain(*checks):
                print("FAILED:", problem, flush=True)
                has_failed = True
    except Skip as e:
        print("skipped:", e)
        sys.exit(77)
    sys.exit(has_failed)


if __name__ == "__main__":
    main()
