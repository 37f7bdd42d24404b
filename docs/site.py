"""Copies README, CONTRIBUTING, CHANGELOG and docs/ to one folder, with links that hold there, and writes the reference of
classes beside them: the input of mkdocs. A link to a page that is not there is an error.

Usage: site.py FOLDER. Called by ./dev docs and by a test.
"""

import pathlib
import re
import shutil
import sys

import class_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
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
        page.write_text(LINK.sub(link, page.read_text()))
    class_reference.write(folder)
    broken = [f"{page.relative_to(folder)}: there is no {target}" for page in sorted(folder.rglob("*.md"))
              for target in LINK.findall(page.read_text()) if not (page.parent / target.partition("#")[0]).exists()]
    sys.exit("\n".join(broken) or 0)


if __name__ == "__main__":
    main()
