"""Checks what a release must agree on: the version in config.hpp, CHANGELOG and the vcpkg port, the components of the port,
and names that are deprecated, which go after two minor versions."""

import json
import re

import sources

DEPRECATED = re.compile(r"\[\[deprecated(?:\(\s*\"(?P<text>[^\"]*)\"\s*\))?\]\]")
SINCE = re.compile(r"use .+, since (\d+)\.(\d+)$")


def version():
    text = (sources.ROOT / "include/tandem/config.hpp").read_text()
    return tuple(int(re.search(rf"TANDEM_VERSION_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR", "PATCH"))


def changelog(text, version):
    """Its first section is that of the version, or Unreleased followed by the version's."""
    sections = re.findall(r"^## (.+?)(?: \(.*\))?$", text, re.M)
    wanted = ".".join(map(str, version))
    if wanted not in sections[:2] or (sections[0] != wanted and sections[0] != "Unreleased"):
        yield f"CHANGELOG.md: begins with {sections[:2]}, but the version is {wanted}"


def port(text, version, components):
    row = json.loads(text)
    if row["version"] != ".".join(map(str, version)):
        yield f"packaging/vcpkg/vcpkg.json: version {row['version']}"
    # Names of vcpkg's features have no underscores.
    if {name.replace("-", "_"): feature["description"] for name, feature in row["features"].items()} != \
            {name: component["about"] for name, component in components.items()}:
        yield "packaging/vcpkg/vcpkg.json: its features are not the components of cmake/components.json"


def overdue(name, text, version):
    for match in DEPRECATED.finditer(text):
        since = SINCE.match(match["text"] or "")
        if not since:
            yield f'{name}: [[deprecated]] says what to use and since when: "use x, since 0.2"'
        elif (int(since[1]), int(since[2]) + 2) <= version[:2] or int(since[1]) < version[0]:
            yield f"{name}: to be removed: {match['text']}"


def main():
    now = version()
    problems = [*changelog((sources.ROOT / "CHANGELOG.md").read_text(), now),
                *port((sources.ROOT / "packaging/vcpkg/vcpkg.json").read_text(), now, sources.components())]
    for path in sources.files(("include", "cuda")):
        problems += overdue(path.relative_to(sources.ROOT).as_posix(), path.read_text(), now)
    sources.report("release", problems)


if __name__ == "__main__":
    main()
