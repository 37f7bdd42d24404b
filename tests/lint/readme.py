"""Writes the ```cpp blocks of a page as source files, which the build compiles and the tests run.

A block with a main function is a program; any other is the body of one, after `using namespace tandem`.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.S | re.M)


def blocks(page):
    """(line, text) of each block."""
    return [(page.count("\n", 0, match.start(1)) + 1, match[1]) for match in BLOCK.finditer(page)]


def program(text):
    if re.search(r"^int main\(", text, re.M):
        return text
    return f"#include <tandem/tandem.hpp>\n\nint main() {{\nusing namespace tandem;\n{text}}}\n"


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, (line, text) in enumerate(blocks(page.read_text()), 1):
        path = folder / f"{page.stem.lower()}_{number}.cpp"
        source = f"// {page.name}, line {line}\n{program(text)}"
        if not path.exists() or path.read_text() != source:
            path.write_text(source)
        print(path)


if __name__ == "__main__":
    main()
