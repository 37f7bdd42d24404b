// How a tensor prints while a function is traced: the name of the op that makes it, as TensorFlow prints it.
#include <sstream>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
std::string streamed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}
}  // namespace

TEST_CASE("print: traced tensors show op, output and shape") {
  const Variable w(ones({2, 2}), {.name = "w"});
  std::vector<std::string> seen;
  const auto f = function(
      [&](const Tensor& x) {
        const auto note = [&](const Tensor& t) { seen.push_back(streamed(t)); };
        note(x);
        note(w.read_value());
        const Tensor product = matmul(x, w);
        note(product);
        note(matmul(product, w));
        note(matmul(product, w, {.name = "logits"}));
        const auto halves = split(product, 2, {.axis = 1});
        note(halves[0]);
        note(halves[1]);
        {
          const name_scope scope("head");
          note(exp(product));
        }
        cond(
            reduce_any(x > 0), [&] { return note(product), product; }, [&] { return x; });
        return product;
      },
      {.input_signature = {TensorSpec({none, 2}, float32, "x")}});
  f(ones({2, 2}));
  const auto line = [](const char* name, const char* shape) {
    return "tandem.Tensor(\"" + std::string(name) + "\", shape=" + shape + ", dtype=float32)";
  };
  REQUIRE(seen.size() == 9);
  CHECK(seen[0] == line("arg:0", "(None, 2)"));
  CHECK(seen[1] == line("w:0", "(2, 2)"));
  CHECK(seen[2] == line("MatMul:0", "(None, 2)"));
  CHECK(seen[3] == line("MatMul_1:0", "(None, 2)"));
  CHECK(seen[4] == line("logits:0", "(None, 2)"));
  CHECK(seen[5] == line("Split:0", "(None, 1)"));
  CHECK(seen[6] == line("Split:1", "(None, 1)"));
  CHECK(seen[7] == line("head/Exp:0", "(None, 2)"));
  CHECK(seen[8] == seen[2]);
}
