"""Checks that the files that comments name exist: "cpu/gemm/driver.hpp", "driver.hpp" or "*_half.inl"."""

import re

import sources

COMMENT = re.compile(r"//.*")
# Not part of a longer name, a pattern, or an include in code that is shown.
NAME = re.compile(r"(?<![\w/.<*\"-])(?:[\w.]+/)*\w+\.(?:hpp|inl|inc|cuh|cu|cpp)\b")


def named(text):
    """(line, name) of the files that the comments of a text name; "_test.cpp" is an ending, not a name."""
    for number, line in enumerate(text.splitlines(), 1):
        for comment in COMMENT.findall(line):
            yield from ((number, name) for name in NAME.findall(comment) if not name.startswith("_"))


def missing(texts):
    """What comments name and is not there. `texts`: path -> text of all files."""
    endings = {"/".join(path.split("/")[at:]) for path in texts for at in range(path.count("/") + 1)}
    return [f"{path}:{number}: there is no {name}" for path, text in texts.items() for number, name in named(text)
            if name not in endings]


if __name__ == "__main__":
    sources.report("comments", missing({path.relative_to(sources.ROOT).as_posix(): path.read_text()
                                        for path in sources.files()}))
