"""Checks that no file exceeds 400 lines and no function 60 (a lambda counts as part of the function around it)."""

import re

import sources

FILE_LIMIT = 400
FUNCTION_LIMIT = 60

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()]*$|\bextern\s*\"\"\s*$")
# A function head that ends in its parameter list, optionally followed by qualifiers, a return type or member
# initializers.
FUNCTION = re.compile(r"\)(\s*(const|noexcept(\s*\([^()]*\))?|override|final|mutable|&&?|->[^;={}]*|requires[^;={}]*))*\s*$")
INITIALISERS = re.compile(r"\)\s*(noexcept\s*)?:\s*[^:?].*$", re.S)


def is_function(head):
    head = head.strip()
    if SCOPE.search(head) or head.endswith("="):
        return False
    return bool(FUNCTION.search(head) or INITIALISERS.search(head))


def functions(text):
    """Yields (first line, number of lines) of each outermost function body."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"),
                  sources.without_comments_and_strings(text), flags=re.M)
    line, start, function_depth, depth = 1, 0, None, 0
    for position, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == "{":
            if function_depth is None and is_function(code[start:position]):
                function_depth, first = depth, line
            depth += 1
            start = position + 1
        elif character == "}":
            depth -= 1
            start = position + 1
            if function_depth == depth:
                function_depth = None
                yield first, line - first + 1
        elif character == ";" and function_depth is None:
            start = position + 1


def main():
    problems = []
    for path in sources.files() + sources.files(suffixes={".py", ".sh"}):
        text = path.read_text()
        name = path.relative_to(sources.ROOT)
        if text.count("\n") > FILE_LIMIT:
            problems.append(f"{name}: {text.count(chr(10))} lines (limit {FILE_LIMIT})")
        if path.suffix in sources.CPP:
            problems += [f"{name}:{first}: a function of {lines} lines (limit {FUNCTION_LIMIT})"
                         for first, lines in functions(text) if lines > FUNCTION_LIMIT]
    sources.report("sizes", problems)


if __name__ == "__main__":
    main()
