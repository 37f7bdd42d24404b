"""Checks tests/golden/coverage.txt, the list of all ops that the library promises: each is declared and tested, and its
values come from an independent source; or the list gives the reason why not. Every op of docs/ops/ has a line there.

A line is `name: proof`. The proof is golden FAMILY[:CASE] (a case of tests/golden/FAMILY.npz, of the op's own name
unless given), table (numbers of an independent library in its tests), exact (it moves, compares, counts or creates
elements, or undoes another op; its tests compare with loops), statistics (random), text (strings and files), control (functions of functions),
check (raises or prints), or missing, with the reason.
"""

import re
import zipfile

import op_reference
import sources

LIST = sources.ROOT / "tests" / "golden" / "coverage.txt"
PROOFS = ("table", "exact", "statistics", "text", "control", "check", "missing")
LINE = re.compile(r"([\w:]+): (\w+)(?: (.+))?$")


def declared_names(text):
    """The (namespace, name) pairs that a header declares: functions, classes, objects, using-declarations."""
    spaces, depth, found = [], 0, set()
    for line in sources.without_comments_and_strings(text).splitlines():
        if match := re.match(r"\s*(?:inline )?namespace ([\w:]+) ?\{", line):
            spaces.append((match[1].replace("TANDEM_NS::", "").replace("TANDEM_NS", ""), depth))
        scope = "::".join(name for name, _ in spaces if name)
        scope = re.sub(r"::without_asserts::with_asserts$", "", scope)  # inline namespaces
        for pattern in (r"\b([A-Za-z_]\w*)\s*\(", r"(?:struct|class) (?:TANDEM_API )?(\w+)",
                        r"using (?:[\w:]+::)?(\w+);", r"inline constexpr \w+ (\w+)\{"):
            found.update((scope, name) for name in re.findall(pattern, line))
        depth += line.count("{") - line.count("}")
        while spaces and depth <= spaces[-1][1]:
            spaces.pop()
    return found


def golden_cases(family):
    path = sources.ROOT / "tests" / "golden" / f"{family}.npz"
    return {name.split(":")[0] for name in zipfile.ZipFile(path).namelist()} if path.exists() else set()


class Tests:
    """The text of the tests, and where each word stands in it."""

    def __init__(self, text):
        self.text, self.places = text, {}
        for match in re.finditer(r"\b[A-Za-z_]\w*", text):
            self.places.setdefault(match[0], []).append(match)


def is_called(scope, own, tests):
    """Whether the tests call that function, construct an object of that class, or pass it on: not as a member (`.size()`),
    of another namespace (`std::size`), or as the name of a variable."""
    space = "".join(rf"(?:{part}::)?" for part in scope.split("::") if part)
    before_call = re.compile(rf"(?:^|[^\w.>: ]|[^\w] |return )(?:tandem::)?{space}$")
    before_object = re.compile(rf"(?:^|[^\w.>:])(?:tandem::)?{space}$")
    before_argument = re.compile(rf"[(,<] ?&?(?:tandem::)?{space}$")
    for match in tests.places.get(own, ()):
        before = tests.text[max(0, match.start() - 60):match.start()]
        after = tests.text[match.end():match.end() + 40]
        if (re.match(r"(<[\w:]+>)?[({]", after) and before_call.search(before)
                or re.match(r" \w+[({;]", after) and before_object.search(before)
                or after[:1] in (",", ")", ">") and before_argument.search(before)):
            return True
    return False


def check(lines, declared, cases, tests):
    """The problems of the list's lines; cases(family) gives its golden cases, tests is the text of the tests."""
    problems, met = [], set()
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match:
            problems.append(f"coverage.txt:{number}: '{line}' is not `name: proof`")
            continue
        name, proof, rest = match.groups()
        scope, _, own = name.rpartition("::")
        if name in met:
            problems.append(f"coverage.txt:{number}: {name} stands twice")
        met.add(name)
        if proof == "missing":
            if (scope, own) in declared:
                problems.append(f"coverage.txt:{number}: {name} is there")
            if not rest:
                problems.append(f"coverage.txt:{number}: {name} is missing without a reason")
            continue
        if (scope, own) not in declared:
            problems.append(f"coverage.txt:{number}: no header declares {name}")
        if not is_called(scope, own, tests):
            problems.append(f"coverage.txt:{number}: no test calls {name}")
        if proof == "golden":
            family, _, case = (rest or "").partition(":")
            if (case or own) not in cases(family):
                problems.append(f"coverage.txt:{number}: {family}.npz has no case of {case or own}")
        elif proof not in PROOFS:
            problems.append(f"coverage.txt:{number}: unknown proof '{proof}'")
    return problems


def unlisted(lines, ops):
    """The ops without a line. `ops`: name -> its page in docs/ops/."""
    listed = {match[1] for line in lines if (match := LINE.match(line))}
    return [f"coverage.txt: {name}, of docs/ops/{page}.md, has no line" for name, page in ops.items() if name not in listed]


def documented():
    """The ops that docs/ops/ has, and where."""
    return {name: page for page, _, entries in op_reference.FAMILIES for path in op_reference.headers_of(entries)
            for scope, names, _, _ in op_reference.Header(path).functions for name in op_reference.titles_of(scope, names)}


def main():
    declared = set()
    for path in sorted((sources.ROOT / "include" / "tandem").rglob("*.hpp")):
        declared |= declared_names(path.read_text())
    tests = "\n".join(sources.without_comments_and_strings(p.read_text())
                      for p in sources.files(("tests",), {".cpp", ".hpp"}))
    known = {}
    lines = LIST.read_text().splitlines()
    problems = check(lines, declared,
                     lambda family: known.setdefault(family, golden_cases(family)), Tests(tests))
    problems += unlisted(lines, documented())
    sources.report("op_coverage", problems)


if __name__ == "__main__":
    main()
