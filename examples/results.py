"""Runs the example programs as the table of docs/examples.md shows them, and writes what they reach into it: `./dev results`.

A row that takes more than about a minute runs only with --all, or if its program is named; otherwise it keeps its
figures. Where another seed moves a figure, the figure is the mean of several.
"""

import argparse
import dataclasses
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/examples.md"
BEGIN, END = "<!-- results: written by ./dev results -->\n", "<!-- end of results -->\n"
HEAD = "| program | what it does | measured |\n|---|---|---|\n"


@dataclasses.dataclass
class Row:
    command: str  # "mnist_mlp --data DATA/mnist"; DATA is the folder of real data
    what: str
    pattern: str | None  # in what the command prints: one group for each figure; None: measured elsewhere
    measured: str  # {0}, {1}, ... are the figures; of several seeds {0.mean}, {0.least}, {0.most}
    seeds: int = 1
    slow: bool = False


@dataclasses.dataclass
class Figure:
    values: list

    mean = property(lambda self: statistics.mean(self.values))
    least = property(lambda self: min(self.values))
    most = property(lambda self: max(self.values))

    def __format__(self, form):
        text = format(self.mean, form)
        return text if text.strip("-0.") else text.lstrip("-")


NUMBER = r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)"
ROWS = [
    Row("first_tensor", "two tensors, a product and a sum", rf"\[{NUMBER}\]\], shape=\(2, 1\)", "3 x 10 + 4 x 20 = {0:.0f}"),
    Row("first_gradient", "a line through points, by gradients", rf"y = {NUMBER} x \+ {NUMBER}", "y = {0:.2f} x + {1:.2f}"),
    Row("first_model", "a small network tells inside from outside of a circle", rf"points: {NUMBER} %", "{0:.1f} % of 1000 new points"),
    Row("polynomial_fit", "finds 5 x^2 + 3 from points of it", rf"found .*y = {NUMBER} x\^2 {NUMBER} x {NUMBER}",
        "{0:.3f}, {1:.3f}, {2:.2f}"),
    Row("linear_regression", "the same weights in six ways, from the normal equation to momentum",
        rf"largest difference from the normal equation: {NUMBER}", "they differ by {0:.0e}"),
    Row("linear_regression --dtype float32", "the same in float32", rf"largest difference from the normal equation: {NUMBER}",
        "they differ by {0:.0e}"),
    Row("logistic_regression", "who survived the Titanic (generated from the counts)",
        rf"{NUMBER} % right of those held out", "{0:.1f} % of held-out passengers right ({0.least:.0f} to {0.most:.0f})", seeds=8),
    Row("softmax_regression --data DATA/iris.csv --splits 200", "irises", rf"random splits: {NUMBER} %", "{0:.1f} % of 45 held-out flowers"),
    Row("softmax_regression --task spam --data DATA/text/spam.tsv.gz", "mails by the words in them",
        rf"held out: .*of 1210 right \({NUMBER} %\)", "{0:.1f} % of 1,210 held-out mails"),
    Row("xor --starts 200", "exclusive or with one hidden layer of 4 units", rf"right from {NUMBER} of 200", "{0:.0f} of 200 starts succeed"),
    Row("xor --hidden 2 --starts 200", "the same with 2 units", rf"right from {NUMBER} of 200", "{0:.0f} of 200"),
    Row("maximum_entropy", "three losses of equal value, one of which lacks a gradient",
        rf"label gradient stopped .*  {NUMBER}\n(?:.*\n)*?softmax_entropy .*  {NUMBER}\n", "a gradient checker shows which: error {0:.3f} against {1:.3f}"),
    Row("data_parallel", "one batch in 1, 2 and 4 slices", rf"largest difference of a weight: {NUMBER}", "the weights agree to {0:.0e}"),
    Row("bf16_training --data DATA/mnist", "digits in bfloat16 with float32 weights",
        rf"float32 +{NUMBER} %.*\nbfloat16, float32 weights +{NUMBER} %", "{1:.1f} %; in float32 {0:.1f} %"),
    Row("mnist_mlp --data DATA/mnist", "two hidden layers read digits", rf"\n{NUMBER} % of 1500 held-out", "{0:.1f} % of 1,500 held-out digits"),
    Row("hparam_search --data DATA/mnist", "successive halving and random search for hyper-parameters; a report",
        rf"finds {NUMBER} % in validation, random search in 3 runs {NUMBER} %\n(?:.*\n)*{NUMBER} % of 1500 held-out",
        "{0:.1f} % in validation ({0.least:.1f} to {0.most:.1f}), random search {1:.1f} % ({1.least:.1f} to {1.most:.1f}); "
        "the best has {2:.1f} % of 1,500 held-out digits right", seeds=4, slow=True),
    Row("mnist_cnn --data DATA/mnist", "a convolutional network reads digits; confusion matrix",
        rf"\n{NUMBER} % of 1500 held-out", "{0:.1f} %"),
    Row("image_classifier", "a small AlexNet tells stripes and checkers apart", rf", {NUMBER} % of 60 held-out",
        "{0:.0f} % of 60 held-out pictures"),
    Row("image_classifier --data DATA/mnist", "the same network reads digits", rf", {NUMBER} % of 1500 held-out", "{0:.1f} %"),
    Row("autoencoder --data DATA/mnist", "squeezes digits into 16 numbers and draws what is decoded from them",
        rf"784 pixels in 16 numbers: error {NUMBER} %", "{0:.1f} % of the variance lost; principal components lose 40.1 %"),
    Row("vae --data DATA/mnist", "a variational autoencoder: how likely a digit is; draws new ones", rf"held out: {NUMBER} nats",
        "{0:.1f} nats a held-out digit at most"),
    Row("gan --data DATA/mnist", "two networks: one draws digits, the other one tells them from real ones",
        rf"drawn digits reach {NUMBER}, held-out ones {NUMBER}, and noise {NUMBER};",
        "a score of {0:.1f} of at most 10 ({0.least:.1f} to {0.most:.1f}); held-out digits {1:.1f}, noise {2:.1f}", seeds=3),
    Row("fine_tune --data DATA/mnist", "weights of PyTorch: digits 0 to 4 help to learn 5 to 9 from 30 pictures",
        rf"new weights .*weights: +{NUMBER} %.*\n.*\nloaded and frozen.*weights: +{NUMBER} %.*\nthen all.*weights: +{NUMBER} %",
        "{2:.1f} %; with the loaded layers frozen {1:.1f} %, with new weights {0:.1f} %"),
    Row("dqn", "learns to balance a pole on a cart by trying", rf"for {NUMBER} steps before and {NUMBER} after",
        "up for {0:.0f} steps before, and {1:.0f} after ({1.least:.0f} to {1.most:.0f}), of at most 500", seeds=4),
    Row("sound_classifier", "tells instruments apart by their spectrograms; sounds for TensorBoard and a report",
        rf"{NUMBER} % of 500 held-out notes right", "{0:.1f} % of 500 held-out notes ({0.least:.1f} to {0.most:.1f})", seeds=4),
    Row("time_series", "a GRU forecasts the next day of a series, hour by hour",
        rf"off by {NUMBER} on average; one period before: {NUMBER}, 7 periods before: {NUMBER};",
        "off by {0:.2f}; the day before by {1:.2f}, a week before by {2:.2f}"),
    Row("sequence_classification --data DATA/text/spam.tsv.gz", "a GRU reads mails word by word",
        rf"steps: {NUMBER} % of the held-out texts right", "{0:.1f} % of held-out mails ({0.least:.1f} to {0.most:.1f})", seeds=4),
    Row("sequence_labelling", "letters of which some look alike, read one way and both ways",
        rf"\none way  +.*right, {NUMBER} % wrong\n(?:.*\n)*both ways  +.*right, {NUMBER} % wrong", "{0:.1f} % and {1:.1f} % wrong"),
    Row("sequence_labelling --task tags --data DATA/text/brown_tagged.txt.gz --epochs 50", "parts of speech",
        rf"\none way  +{NUMBER} % right.*\n(?:.*\n)*both ways  +{NUMBER} % right", "{0:.1f} % and {1:.1f} % right", slow=True),
    Row("transformer_lm --data DATA/text/state_of_the_union.txt.gz", "a small transformer writes text, a character at a time",
        rf"held out: {NUMBER} bits", "{0:.2f} bits a character", slow=True),
    Row("char_rnn", "a character model (GRU or LSTM) writes text",
        rf"bits/char held out at the end, {NUMBER} at its best .*perplexity {NUMBER}\)",
        "{0:.2f} bits a character (perplexity {1:.1f}) held out of the licence texts", slow=True),
    Row("char_rnn --data DATA/text/state_of_the_union.txt.gz --hidden 256 --dropout 0 --epochs 50", "the same on speeches",
        rf"bits/char held out at the end, {NUMBER} at its best", "{0:.3f} bits a character", slow=True),
    Row("beam_search", "finds more likely continuations than greedy search, with a character model",
        rf"\n(\d+) prompts, .*better for {NUMBER} %, equal for {NUMBER} %", "likelier for {1:.0f} % of {0:.0f} texts, equal for {2:.0f} %"),
    Row("beam_search dates", "a model with attention writes dates in ISO 8601", rf"not trained on {NUMBER} % are exact",
        "{0:.2f} % of 2,000 unseen dates ({0.least:.2f} to {0.most:.2f})", seeds=3),
    Row("word2vec --data DATA/text/state_of_the_union.txt.gz",
        "word vectors (skip-gram or CBOW; negative sampling or NCE), neighbours, analogies, a picture", None,
        "twice the words a second of gensim 4.4 (`bench/word2vec/program.py`)"),
    Row("run_graph FILE", "runs or prints a graph that another program saved", None, "-"),
    Row("half_plus_two", "exports x / 2 + 2 as a model that a server can load, and reads it back", None, "[1, 2, 5] gives [2.5, 3, 4.5]"),
    Row("model_server", "serves such models over REST and gRPC", None, "-"),
    Row("digits_web", "a page where one draws a digit and sees which one a network takes it for", None, "a drawn 7 is a 7, in a test with Chromium"),
    Row("serve_char_rnn", "writes text for clients with a model of `char_rnn`, and sends it while it is written", None, "-"),
    Row("serving_client half 1 2 5", "asks a model server by plain sockets; `serving_client.py` beside it does so in Python", None, "[2.5, 3, 4.5]"),
    Row("tandem_run -n 4 -- PROGRAM", "starts the processes of a distributed training, watches and restarts them", None, "-"),
    Row("saved_model show DIR", "shows, runs, checks and compares such models", None, "-"),
]


def figures(row, programs, data):
    """The figures of a row, each of all its seeds."""
    program, *arguments = row.command.replace("DATA", str(data)).split()
    found = []
    for seed in range(1, row.seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            command = [str(programs / program), *arguments, *([] if row.seeds == 1 else ["--seed", str(seed)])]
            out = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        match = re.search(row.pattern, out)
        if not match:
            sys.exit(f"{row.command}: its output has no {row.pattern!r}:\n{out}")
        found.append([float(group) for group in match.groups()])
    return [Figure(list(values)) for values in zip(*found)]


def cells(table):
    """Command -> measured, of a table."""
    rows = [[cell.strip() for cell in line.split(" | ")] for line in table.replace(" |\n", "\n").splitlines() if line.startswith("| `")]
    return {row[0].strip("| `"): row[2] if len(row) > 2 else "" for row in rows}


def split_page():
    """The page before the table, the table, and the page after it."""
    page = PAGE.read_text()
    before, begin, rest = page.partition(BEGIN)
    table, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{PAGE} lacks the lines {BEGIN!r} and {END!r}")
    return before + BEGIN, table, END + after


def check(programs):
    """The table has the rows of this file, each program has one, and each row has figures."""
    _, table, _ = split_page()
    there = cells(table)
    problems = [f"the table lacks the row of {row.command}" for row in ROWS if not there.get(row.command)]
    problems += [f"the table has a row of {command}, which examples/results.py lacks" for command in there.keys() - {r.command for r in ROWS}]
    problems += [f"there is no row of {program}" for program in programs if program not in {r.command.split()[0] for r in ROWS}]
    problems += [f"the row of {row.command} says something else" for row in ROWS if f"| `{row.command}` | {row.what} |" not in table]
    print("\n".join(problems) or f"{len(ROWS)} rows")
    sys.exit(problems != [])


def main():
    parser = argparse.ArgumentParser(prog="./dev results", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data", help="the folder of real data")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/examples", help="where they are built")
    parser.add_argument("--all", action="store_true", help="also the rows that take minutes")
    parser.add_argument("--check", action="store_true", help="only check that the table has the rows of this file")
    parser.add_argument("program", nargs="*", help="only the rows of these programs")
    o = parser.parse_args()
    if o.check:
        check(o.program)
    if not o.data.is_dir():
        sys.exit(f"there is no folder {o.data}; --data takes that of the real data")
    before, table, after = split_page()
    measured = cells(table)
    for row in ROWS:
        chosen = row.command.split()[0] in o.program if o.program else o.all or not row.slow
        if row.pattern is None:
            measured[row.command] = row.measured
        elif chosen:
            measured[row.command] = row.measured.format(*figures(row, o.programs.resolve(), o.data.resolve()))
            if row.seeds > 1:
                measured[row.command] += f", mean of {row.seeds} seeds"
            print(f"{row.command}: {measured[row.command]}", flush=True)
            lines = [f"| `{r.command}` | {r.what} | {measured.get(r.command, '')} |\n" for r in ROWS]
            PAGE.write_text(before + HEAD + "".join(lines) + after)


if __name__ == "__main__":
    main()
