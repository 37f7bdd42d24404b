"""Checks that every optional component (cmake/components.json) is there for its users: its folders, its public header,
its row in docs/building.md, and what it needs among the packages that ./dev installs."""

import sources


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
    if f"| `tandem::{name}`, `tandem::{name}_header_only` |" not in building:
        yield f"{name}: docs/building.md has no row for its targets"
    for package in component.get("debian", []):
        if package not in dev.split():
            yield f"{name}: ./dev does not install {package}"
    if len(component.get("libraries", [])) > len(component.get("headers", [])):
        yield f"{name}: a library without a header"


def main():
    building, dev = (sources.ROOT / "docs/building.md").read_text(), (sources.ROOT / "dev").read_text()
    table = sources.components()
    sources.report("components", [problem for i, (name, component) in enumerate(table.items())
                                  for problem in problems(name, component, building, dev, [*table][:i])])


if __name__ == "__main__":
    main()
