// Helpers for tests of gradients: reading and comparing values, and the first and second derivatives of a function,
// computed eagerly, through a traced call and inside one. Not here: finite differences (tandem/autodiff/check.hpp).
#pragma once
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace testing {

using Floats = std::vector<float>;
using List = std::vector<tandem::Tensor>;

inline Floats floats(const tandem::Tensor& t) { return t.to_vector<float>(); }
inline void check_close(const Floats& a, const Floats& b, double epsilon = 1e-5) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(epsilon).margin(epsilon / 10));
}
inline void check_close(const List& a, const List& b, double epsilon = 1e-5) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i].shape() == b[i].shape());
    check_close(floats(a[i]), floats(b[i]), epsilon);
  }
}

/// The value, gradient and a second derivative of a scalar function of one tensor.
template <class F>
List derivatives(const F& f, const tandem::Tensor& x) {
  using namespace tandem;
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = f(x);
  const Tensor dx = inner.gradient(y, x);
  return {y, dx, outer.gradient(reduce_sum(dx * dx), x, {.unconnected_gradients = UnconnectedGradients::zero})};
}
/// Checks that the eager derivatives equal those of a traced call under a tape and those of tapes inside a traced
/// function.
template <class F>
void check_same_derivatives(const F& f, const tandem::Tensor& x) {
  using namespace tandem;
  const List eager = derivatives(f, x);
  check_close(derivatives(function(f), x), eager);
  check_close(function([&](const Tensor& t) { return derivatives(f, t); })(x), eager);
}

}  // namespace testing
