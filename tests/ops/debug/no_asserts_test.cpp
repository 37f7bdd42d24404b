// TANDEM_NO_ASSERTS drops the asserts of a file, whatever the program's other files do; prints stay. Not in a unit with
// files that keep theirs: the macro speaks for whole units.
#if !defined(TANDEM_HEADER_ONLY)
#define TANDEM_NO_ASSERTS
#include "tandem/ops/debug/assert.hpp"

#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorder.hpp"

using namespace tandem;

TEST_CASE("assert: TANDEM_NO_ASSERTS drops them all") {
  const Tensor x = constant({1.f, -1.f});
  testing::Recorder recorder;
  recorder.trace({{{none}, float32, {}}}, [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    for (const Tensor& t : {x, in[0]}) {
      debugging::assert_rank(t, 7);
      debugging::assert_scalar(t);
      debugging::assert_shapes({{t, {"N", 3}}});
      debugging::assert_type(t, int32);
      debugging::assert_less(t, -5);
      debugging::assert_near(t, 9, {.rtol = 0});
      debugging::assert_positive(t);
      CHECK(debugging::assert_all_finite(t).is_same(t));
      CHECK(debugging::assert_same_float_dtype({t}, float64) == float64);
    }
    debugging::Assert(constant(false));
    return {};
  });
  CHECK(recorder.ops() == 0);
}
#endif
