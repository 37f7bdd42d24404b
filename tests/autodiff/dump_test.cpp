// GradientTape::dump: what a tape has recorded, as text.
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("a tape's dump lists Variables, ops, what they keep and their lines") {
  const Variable w(ones({3, 2}), {.name = "w"}), other(1.f, {.name = "other"});
  GradientTape tape;
  CHECK(tape.dump().empty());
  tape.watch(other);
  const Tensor x = ones({4, 3});
  const Tensor y = exp(matmul(x, w));
  const Tensor unrelated = sin(x);
  const std::string line = "dump_test.cpp:" + std::to_string(__LINE__ - 2), text = tape.dump();
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("variable 'other' float32[]: not read\n"));
  CHECK_THAT(text, ContainsSubstring("variable 'w' float32[3,2]: %0\n"));
  CHECK_THAT(text, ContainsSubstring("%1 = MatMul(_, %0)") && ContainsSubstring("keeps float32[4,3]"));
  CHECK_THAT(text, ContainsSubstring("%2 = Exp(%1)") && ContainsSubstring(line));
  CHECK_THAT(text, !ContainsSubstring("Sin"));
  tape.gradient(y, w);  // the dump has run nothing that would change it
  CHECK_THAT(tape.dump(), ContainsSubstring("%2 = Exp(%1)") && !ContainsSubstring("keeps"));
}
