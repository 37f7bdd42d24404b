"""Copies README, CONTRIBUTING, CHANGELOG and docs/ to one folder, with links that hold there, and writes the reference of
classes beside them: the input of mkdocs. A link to a page or a heading that is not there is an error.

Usage: site.py FOLDER. Called by ./dev docs and by a test.
"""

import pathlib
import posixpath
import re
import shutil
import sys
import unicodedata

import class_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
ANCHOR = re.compile(r"\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.M)
NAMES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def anchors(text):
    """The ids of the headings of a page, as Markdown's table of contents makes them."""
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        heading = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
        name = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
        while name in found or not name:
            stem, line, number = name.rpartition("_")
            name = f"{stem}_{int(number) + 1}" if line and number.isdigit() else f"{name}_1"
        found.add(name)
    return found


def missing_anchors(texts):
    """The links to headings that are not there. `texts`: path of a page -> text."""
    ids = {page: anchors(text) for page, text in texts.items()}
    return [f"{page}: {target or page} has no heading #{anchor}" for page, text in texts.items()
            for target, anchor in ANCHOR.findall(FENCED.sub("", text))
            if (to := posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page) in ids
            and anchor not in ids[to]]


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py"))
    shutil.copy(ROOT / "LICENSE", folder / "license.txt")
    for page, name in NAMES.items():
        shutil.copy(ROOT / page, folder / name)

    def link(match):
        target = match[1].removeprefix("../").removeprefix("docs/")
        return f"]({NAMES.get(target, 'license.txt' if target == 'LICENSE' else target)})"

    for page in folder.glob("*.md"):
        page.write_text(LINK.sub(link, page.read_text()))
    class_reference.write(folder)
    broken = [f"{page.relative_to(folder)}: there is no {target}" for page in sorted(folder.rglob("*.md"))
              for target in LINK.findall(page.read_text()) if not (page.parent / target.partition("#")[0]).exists()]
    broken += missing_anchors({page.relative_to(folder).as_posix(): page.read_text() for page in sorted(folder.rglob("*.md"))})
    sys.exit("\n".join(broken) or 0)


if __name__ == "__main__":
    main()
