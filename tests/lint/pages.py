"""Writes the ```cpp blocks of README and docs/ as source files, which the build compiles and the tests run.

A block with a main function is a program; any other is the body of one, after its includes and `using namespace tandem`. Code in the text
is compiled too: PROSE has a program for it, which begins with the block that the text is about.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.S | re.M)
INCLUDES = re.compile(r"(?:#include <.*>\n|\n)*")
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
MAIN = re.compile(r"^int main\(.*?^}\n", re.S | re.M)
HEADERS = "#include <tandem/io.hpp>\n#include <tandem/testing.hpp>\n"
# For each program of code in the text: what its block defines, what the text must have in this wording, and the body of
# main, in which {0}, {1}, ... are that code.
PROSE = [
    ("constexpr OpDef cube_op",
     ["test::check_op(cube, {x})", "{.ops = ops}", "const OpDef* const ops[] = {&cube_op};", 'io::load_graph("cube.graph", {.ops = ops})'],
     """  const Tensor x = constant({{1.f, -2.f}});
  {2}
  const auto f = function([](const Tensor& t) {{ return cube(t); }});
  io::save_graph("cube.graph", f.get_concrete_function(x)->graph());
  {3};
  return {0}.empty() && test::check_op(cube, {{x}}, {1}).empty() ? 0 : 1;
"""),
    ("const auto add_norm = function(",
     ["add_norm.get_concrete_function(x)->plan(specs)", "add_norm.memory_for(TensorSpec({1000, 2}, float32))"],
     """  const Tensor x = constant({{{{3.f, 4.f}}}});
  const Spec specs[] = {{x.spec()}};
  return {0}.find("no plan") == std::string::npos && {1}.is_complete ? 0 : 1;
"""),
]


def blocks(page):
    """(line, text) of each block."""
    return [(page.count("\n", 0, match.start(1)) + 1, match[1]) for match in BLOCK.finditer(page)]


def split(text):
    """The lines of includes with which a body begins, by default all headers, and the rest."""
    includes = INCLUDES.match(text)[0]
    return includes.strip() or "#include <tandem/tandem.hpp>", text[len(includes):]


def program(text):
    if re.search(r"^int main\(", text, re.M):
        return text
    includes, body = split(text)
    return f"{includes}\n\nint main() {{\nusing namespace tandem;\n{body}}}\n"


def prose_program(page, defines, snippets, body):
    """A program around snippets of the text, after the block that defines what they use."""
    spans = {" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCED.sub("", page))}
    for snippet in snippets:
        if snippet not in spans:
            sys.exit(f"the text about {defines} has no `{snippet}`, which tests/lint/pages.py compiles")
    block = next(text for _, text in blocks(page) if defines in text)
    main = f"int main() {{\n{body.format(*snippets)}}}\n"
    if MAIN.search(block):
        return HEADERS + MAIN.sub(lambda match: main, block)
    includes, block = split(block)
    return f"{HEADERS}{includes}\n\nusing namespace tandem;\n\n" + main.replace("{\n", "{\n" + block, 1)


def sources(page):
    """(name, source) of each program."""
    stem = f"page_{page.stem.lower()}"
    text = page.read_text()
    for number, (line, block) in enumerate(blocks(text), 1):
        yield f"{stem}_{number}", f"// {page.name}, line {line}\n{program(block)}"
    for number, (defines, snippets, body) in enumerate(PROSE, 1):
        if any(defines in block for _, block in blocks(text)):
            yield f"{stem}_prose_{number}", f"// {page.name}, {snippets[0]}\n{prose_program(text, defines, snippets, body)}"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for page in map(pathlib.Path, sys.argv[2:]):
        for name, source in sources(page):
            path = folder / f"{name}.cpp"
            if not path.exists() or path.read_text() != source:
                path.write_text(source)
            print(path)


if __name__ == "__main__":
    main()
