"""Checks that the functions named in docs/walkthrough.md exist in one of the files that it names."""

import re

import sources

PAGE = sources.ROOT / "docs/walkthrough.md"
TITLES = ("## One addition, step by step", "## The gradient of a product, step by step")
FILE = re.compile(r"`([\w/]+\.(?:hpp|inl|inc))`")
NAME = re.compile(r"`([\w:.<>, ]+?)`")


def check(page, read, title=TITLES[0]):
    """The names of the walk that are in none of its files. read(file) gives the text of a file below include/tandem."""
    walk = re.search(r"^1\. .*?(?=\n\n|\Z)", page.split(title)[1], re.S | re.M)[0]
    files = FILE.findall(walk)
    text = "\n".join(sources.without_comments_and_strings(read(file)) for file in files)
    problems = [] if files else ["the walk names no files"]
    for name in NAME.findall(FILE.sub("", walk)):
        word = re.sub(r"<.*>", "", name).split("::")[-1].split(".")[-1]
        if len(word) > 1 and not re.search(rf"\b{word}\b", text):
            problems.append(f"docs/walkthrough.md: `{name}` is in none of {', '.join(files)}")
    return problems


if __name__ == "__main__":
    pages = [check(PAGE.read_text(), lambda file: (sources.ROOT / "include/tandem" / file).read_text(), title)
             for title in TITLES]
    sources.report("walk", sum(pages, []))
