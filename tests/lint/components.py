"""Checks that every optional component (cmake/components.json) is there for its users: its folders, its public header,
its row in docs/building.md, its packages for Conan and vcpkg, and what it needs among the packages that ./dev installs;
and that a page has a program with each public header."""

import re

import pages
import sources

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


def main():
    texts = [path.read_text() for path in [sources.ROOT / "README.md", *sorted((sources.ROOT / "docs").glob("*.md"))]]
    building, dev = (sources.ROOT / "docs/building.md").read_text(), (sources.ROOT / "dev").read_text()
    packaging = sources.ROOT / "packaging"
    vcpkg, conan = (packaging / "vcpkg/portfile.cmake").read_text(), (packaging / "conan/conanfile.py").read_text()
    table = sources.components()
    sources.report("components", [problem for i, (name, component) in enumerate(table.items())
                                  for problem in [*problems(name, component, building, dev, [*table][:i]),
                                                  *packaging_problems(name, component, vcpkg, conan)]] +
                   [*unnamed(sorted(path.name for path in (sources.ROOT / "include/tandem").glob("*.hpp")), texts)])


if __name__ == "__main__":
    main()
