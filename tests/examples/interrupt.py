"""One Ctrl-C stops every example program while it works. Usage: interrupt.py FOLDER PROGRAM..."""

import os
import signal
import subprocess
import sys
import tempfile
import time

CORPUS = "".join(f"The quick brown fox number {i} jumps over the lazy dog; and then it rests.\n" for i in range(2000))
FOREVER = "1000000000"
EPOCHS = ["--epochs", "1000000"]
SMALL = ["--data", "corpus.txt", "--hidden", "16", "--batch", "8", "--window", "20"]
# The arguments with which a program works for hours, where they are not `--steps 1000000000`; several: in several ways.
ARGUMENTS = {
    "run_graph": [], "model_server": [], "tandem_run": [], "saved_model": [], "half_plus_two": [], "serve_char_rnn": [], "serving_client": [],  # end at once
    "autoencoder": [EPOCHS],
    "mnist_mlp": [EPOCHS],
    "hparam_search": [["--trials", "6561"]],
    "mnist_cnn": [EPOCHS],
    "bf16_training": [EPOCHS],
    "sequence_classification": [EPOCHS],
    "sequence_labelling": [EPOCHS],
    "image_classifier": [EPOCHS],
    "time_series": [EPOCHS],
    "sound_classifier": [EPOCHS],
    "vae": [EPOCHS],
    "gan": [EPOCHS],
    "fine_tune": [EPOCHS],
    "digits_web": [EPOCHS],
    "softmax_regression": [["--steps", FOREVER], ["--splits", FOREVER]],
    "transformer_lm": [["--data", "corpus.txt", *EPOCHS]],
    "char_rnn": [["train", *SMALL, *EPOCHS, "--patience", FOREVER], ["sample", "--run", "model", "--characters", FOREVER]],
    "first_tensor": [], "first_gradient": [], "first_model": [],  # over at once
    "beam_search": [["--data", "corpus.txt", *EPOCHS], ["dates", *EPOCHS]],
    "word2vec": [["--data", "corpus.txt", "--learning-rate", "1e-6", "--minutes", "1000000", "--epochs", FOREVER]],
}


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")



def stops(program, arguments):
    """Sends SIGINT when the program has computed for a second: it is in its loop then, however busy the machine is."""
    with open("out", "w+") as out:  # not a pipe, which a program that prints would fill
        process = subprocess.Popen([program, *arguments], stdout=out, stderr=subprocess.STDOUT)
        while processor_seconds(process.pid) < 1:
            if process.poll() is not None:
                return f"ended by itself with {process.returncode}: {open('out').read()}"
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "goes on"
    said = open("out").read()
    if status == -signal.SIGINT or (status == 130 and "interrupted" in said):
        return None
    return f"status {status}: {said[-1000:]}"


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
    folder, programs = os.path.abspath(sys.argv[1]), sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        open("corpus.txt", "w").write(CORPUS)
        for name in programs:
            program = os.path.join(folder, name)
            if name == "char_rnn":  # a model to sample from
                subprocess.run([program, "train", *SMALL, "--epochs", "1", "--steps-per-epoch", "1", "--run", "model"], check=True, stdout=subprocess.DEVNULL)
            for arguments in ARGUMENTS.get(name, [["--steps", FOREVER]]):
                problem = stops(program, arguments)
                if problem:
                    failures += 1
                    print(f"FAILED: {name} {' '.join(arguments)}: {problem}")
    print("all passed" if not failures else f"{failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
