"""Shared by the lints: the files of the project, and C++ text without comments and strings."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("include", "src", "cuda", "tests", "bench", "examples")
CPP = {".hpp", ".inl", ".cpp", ".inc", ".cu", ".cuh"}


def components():
    """The table of the optional components (cmake/Components.cmake), by name."""
    return json.loads((ROOT / "cmake/components.json").read_text())


def files(folders=CODE_FOLDERS, suffixes=CPP):
    """The files of these folders, sorted."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes:
                found.append(path)
    return found


TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)


def without_comments_and_strings(text):
    """The text with comments, strings and characters blanked; line numbers are preserved."""

    def blank(match):
        piece = match.group(0)
        kept = "\n" * piece.count("\n")
        return kept if piece.startswith(("//", "/*")) else '""' + kept

    return TOKEN.sub(blank, text)


def without_comments(text):
    """The text without comments, but with strings, also those that have what begins a comment."""
    return TOKEN.sub(lambda match: "" if match[0].startswith(("//", "/*")) else match[0], text)


def report(name, problems):
    """Prints the problems, one per line, and exits."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
