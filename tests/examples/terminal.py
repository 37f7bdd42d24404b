"""On terminals of 80 and of 40 columns no progress line of a program is wider than its row: it could not be rewritten.

Usage: terminal.py FOLDER PROGRAM...
"""

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios

CORPUS = "".join(f"The quick brown fox number {i} jumps over the lazy dog; and then it rests.\n" for i in range(2000))
# Arguments that make a program write several progress lines, with large numbers in them.
ARGUMENTS = {
    "char_rnn": ["train", "--data", "corpus.txt", "--hidden", "16", "--batch", "8", "--window", "20", "--epochs", "2"],
    "beam_search": ["--data", "corpus.txt", "--epochs", "1", "--prompts", "1", "--length", "1"],
    "word2vec": ["--data", "corpus.txt", "--learning-rate", "1e-4", "--size", "8", "--epochs", "12"],
    "mnist_cnn": ["--epochs", "1", "--steps-per-epoch", "80", "--batch", "20"],
    "image_classifier": ["--size", "12", "10", "--epochs", "6"],
}
REDRAWN = re.compile(r"\r([^\r\n]*)")
COLORS = re.compile(r"\x1b\[\d+m")


def output(command, columns):
    """What a command writes on a terminal of so many columns."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("CI", None)  # with it programs write no progress lines
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        os.execv(command[0], command)
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text.decode()
    return text.decode()


def problems(name, program, columns):
    text = COLORS.sub("", output([program, *ARGUMENTS[name]], columns))
    lines = [line for line in REDRAWN.findall(text) if line and not line.startswith("epoch ")]  # which stay
    if not any(" % " in line for line in lines):
        yield f"no progress line in {lines}"
    if columns > 40 and not any(" left" in line for line in lines):
        yield f"no time left in {lines}"
    for line in lines:
        if len(line) >= columns:
            yield f"{len(line)} characters: {line!r}"


def main():
    folder, programs = os.path.abspath(sys.argv[1]), sys.argv[2:]
    found = []
    for name in programs:
        if name not in ARGUMENTS:
            continue
        for columns in (80, 40):
            with tempfile.TemporaryDirectory() as place:
                os.chdir(place)
                open("corpus.txt", "w").write(CORPUS)
                found += [f"{name}, {columns} columns: {p}" for p in problems(name, os.path.join(folder, name), columns)]
                os.chdir("/")
    print("\n".join(found) or "all passed")
    sys.exit(found != [])


if __name__ == "__main__":
    main()
