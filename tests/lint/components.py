"""Checks that every optional component (cmake/components.json) is there for its users: its folders, its public header,
its row in docs/building.md, its folders in docs/walkthrough.md and in the reference, its packages for Conan and vcpkg, and what it needs among
the packages that ./dev installs; that a page has a program with each public header; that the website's contents and
README have every page."""

import re
import sys

import layering
import op_reference
import pages
import sources

sys.path.insert(0, str(sources.ROOT / "docs"))
import class_reference  # noqa: E402

INCLUDE = re.compile(r"^#include <tandem/(\w+\.hpp)>", re.M)


def problems(name, component, building, dev, before=()):
    for folder in component["folders"]:
        for place in ("include/tandem", "src", "tests"):
            if not (sources.ROOT / place / folder).is_dir():
                yield f"{name}: there is no folder {place}/{folder}"
    for other in component.get("needs", []):
        if other not in before:
            yield f"{name}: needs {other}, which is not a component before it"
    for header in (name, *([f"{name}_op_table"] if component.get("ops") else [])):
        if not (sources.ROOT / "include/tandem" / f"{header}.hpp").exists():
            yield f"{name}: there is no include/tandem/{header}.hpp"
    if building.count(f"| `tandem::{name}`, `tandem::{name}_header_only` |") != 1:
        yield f"{name}: docs/building.md does not have one row for its targets"
    for package in component.get("debian", []):
        if package not in dev.split():
            yield f"{name}: ./dev does not install {package}"
    if len(component.get("libraries", [])) > len(component.get("headers", [])):
        yield f"{name}: a library without a header"


def packaging_problems(name, component, vcpkg, conan):
    if f"\n  {name.replace('_', '-')} TANDEM_WITH_{name.upper()}" not in vcpkg:
        yield f"{name}: packaging/vcpkg/portfile.cmake does not switch it"
    libraries = component.get("libraries", [])
    for need in [*libraries, *component.get("headers", [])[len(libraries):], *filter(None, [component.get("package")])]:
        if f'"{need}"' not in conan:
            yield f"{name}: packaging/conan/conanfile.py does not know {need}"


def unnamed(headers, texts):
    """The public headers that no compiled block of a page includes; the tables of a component's ops are named at least."""
    compiled = {name for text in texts for _, block in pages.blocks(text) for name in INCLUDE.findall(pages.program(block))}
    for name in headers:
        table = name.endswith("_op_table.hpp") and any(f"`{name}`" in text for text in texts)
        if name not in compiled and not table and name != "config.hpp":  # all headers include it
            yield f"include/tandem/{name}: no ```cpp block of README or docs/ includes it"


def unexplained(name, component, walkthrough):
    """The folders of a component without a row in the table of folders."""
    rows = " ".join(re.findall(r"^\|([^|]*)\|", walkthrough, re.M))
    for folder in component["folders"]:
        if f"`{folder}/`" not in rows:
            yield f"{name}: docs/walkthrough.md has no row for {folder}/"


def undocumented(name, component, headers, patterns):
    """The folders of a component that have public headers, of which `patterns`, those of the reference, name none."""
    for folder in component["folders"]:
        if any(header.startswith(f"{folder}/") for header in headers) and not any(p.startswith(f"{folder}/") for p in patterns):
            yield f"{name}: no page of docs/class_reference.py (PAGES) or op_reference.py (FAMILIES) has {folder}/"


def unlinked(found, references, contents, readme):
    """The pages of docs/ and of the reference that the contents of the website (mkdocs.yml) do not have, and those directly
    in docs/ that README does not link to."""
    for page in found + [f"reference_{name}.md" for name in references]:
        if not re.search(rf": {re.escape(page)}$", contents, re.M):
            yield f"mkdocs.yml: nav does not have {page}"
    for page in found:
        if "/" not in page and f"](docs/{page})" not in readme:
            yield f"README.md: no link to docs/{page}"


def main():
    texts = [path.read_text() for path in [sources.ROOT / "README.md", *sorted((sources.ROOT / "docs").glob("*.md"))]]
    building, dev = (sources.ROOT / "docs/building.md").read_text(), (sources.ROOT / "dev").read_text()
    walkthrough, contents = (sources.ROOT / "docs/walkthrough.md").read_text(), (sources.ROOT / "mkdocs.yml").read_text()
    found = sorted(path.relative_to(sources.ROOT / "docs").as_posix() for path in (sources.ROOT / "docs").rglob("*.md"))
    table = sources.components()
    headers = [header for component in table.values() for folder in component["folders"]
               for path in sorted((sources.ROOT / "include/tandem" / folder).glob("*.hpp"))
               if layering.is_public(f"tandem/{(header := f'{folder}/{path.name}')}")]
    patterns = [p for _, _, group in [*class_reference.PAGES.values(), *op_reference.FAMILIES] for p in group]
    packaging = sources.ROOT / "packaging"
    vcpkg, conan = (packaging / "vcpkg/portfile.cmake").read_text(), (packaging / "conan/conanfile.py").read_text()
    sources.report("components", [problem for i, (name, component) in enumerate(table.items())
                                  for problem in [*problems(name, component, building, dev, [*table][:i]),
                                                  *unexplained(name, component, walkthrough),
                                                  *undocumented(name, component, headers, patterns),
                                                  *packaging_problems(name, component, vcpkg, conan)]] +
                   [*unlinked(found, class_reference.PAGES, contents, texts[0])] +
                   [*unnamed(sorted(path.name for path in (sources.ROOT / "include/tandem").glob("*.hpp")), texts)])


if __name__ == "__main__":
    main()
