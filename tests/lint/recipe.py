"""Writes the op of CONTRIBUTING's recipe as a program, which the build compiles and the tests run."""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```c\+\+\n(.*?)^```$", re.S | re.M)
CHECKS = """
int main() {
  using namespace tandem;
  const Tensor x = constant({-3.0, -0.5, 0.0, 0.75, 4.0}, float64), want = (x + sqrt(x * x + 4.0)) / 2.0;
  const auto close = [](const Tensor& a, const Tensor& b) { return reduce_max(abs(a - b)).item<double>() < 1e-12; };
  const auto traced = function([](const Tensor& y) { return squareplus(y * 2.0) + 1.0; });
  if (!close(squareplus(x), want) || !close(traced(x / 2.0), want + 1.0)) return 1;
  if (test::compute_gradient_error([](const Tensor& y) { return squareplus(y); }, x) > 1e-6) return 2;
  return group_ops[0] == &squareplus_op ? 0 : 3;
}
"""


def program(page):
    recipe = page.split("## Add an op")[1].split("\n## ")[0]
    header, definition = BLOCK.findall(recipe)[:2]
    includes = ["tandem/util/scalar_math.hpp", "tandem/ops/pointwise/define.hpp", "tandem/tandem.hpp", "tandem/testing.hpp"]
    return "".join(f'#include "{name}"\n' for name in includes) + "\n" + header + "\n" + definition + CHECKS


if __name__ == "__main__":
    page, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = program(page.read_text())
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
