"""Copies README, CONTRIBUTING, CHANGELOG and docs/ to one folder, with links that hold there: the input of mkdocs.

Usage: site.py FOLDER. Called by ./dev docs.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


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
        page.write_text(re.sub(r"\]\((?!https?:|#)([^)\s]+)\)", link, page.read_text()))


if __name__ == "__main__":
    main()
