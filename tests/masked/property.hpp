// The property of everything that has a mask, weights or lengths: what does not count may be NaN or infinite, and
// changes no bit of a value or a gradient. coverage_test.cpp requires a case for each of them.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace testing {

using List = std::vector<tandem::Tensor>;

struct MaskedOptions {
  bool second = false;         ///< also the second gradient
  bool differentiable = true;  ///< otherwise values alone
  bool traced = true;          ///< also as a traced function
  std::vector<tandem::DType> dtypes = {tandem::float32, tandem::float16, tandem::bfloat16};
};
/// A floating operand, and which of its elements do not count; unset: all of them count.
struct Masked {
  tandem::Tensor value, ignored = {};
};

namespace detail {

// Different factors for all elements, so that no gradient is hidden by a sum.
inline tandem::Tensor weighted_sum(const List& all, float phase) {
  using namespace tandem;
  Tensor sum = zeros({}, {.dtype = float64});
  for (const Tensor& t : all)
    if (is_floating(t.dtype())) sum = sum + reduce_sum(cast(t, float64) * wave(t.shape(), phase += 1, float64));
  return sum;
}
// The results of f, then its gradients to the operands and the variables, then, if wanted, the gradients of those.
template <class F>
List with_gradients(const F& f, const List& x, const std::vector<tandem::Variable>& variables, bool second) {
  using namespace tandem;
  const GradientOptions zero{.unconnected_gradients = UnconnectedGradients::zero};
  GradientTape outer({.persistent = true});
  for (const Tensor& t : x) outer.watch(t);
  List all, first;
  {
    GradientTape tape({.persistent = true});
    for (const Tensor& t : x) tape.watch(t);
    all = f(x);
    const Tensor loss = weighted_sum(all, 0);
    first = tape.gradient(loss, x, zero);
    for (const Gradient& g : tape.gradient(loss, variables, zero)) first.push_back(g.tensor());
  }
  all.insert(all.end(), first.begin(), first.end());
  if (!second) return all;
  const Tensor loss = weighted_sum(first, 1);
  const List next = outer.gradient(loss, x, zero);
  all.insert(all.end(), next.begin(), next.end());
  return all;
}
inline void check_same(const List& got, const List& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (!same_bits(got[i], want[i])) {
      CAPTURE(to_string(got[i]), to_string(want[i]));
      CHECK(same_bits(got[i], want[i]));
    }
  }
}

}  // namespace detail

/// Checks f(operands), a list of results, with NaN and infinities in place of what does not count.
template <class F>
void check_masked(const std::string& name, const F& f, const std::vector<Masked>& operands,
                  const std::vector<tandem::Variable>& variables = {}, const MaskedOptions& o = {}) {
  using namespace tandem;
  CAPTURE(name);
  const auto run = [&](const List& x) {
    if (!o.differentiable) return f(x);
    List all = detail::with_gradients(f, x, variables, o.second);
    // A gradient to what does not count is 0, of either sign.
    const std::size_t sets = o.second ? 2 : 1;
    const std::size_t values = all.size() - sets * x.size() - variables.size();
    for (std::size_t k = 0; k < sets; ++k)
      for (std::size_t i = 0; i < x.size(); ++i) {
        Tensor& g = all[values + i + k * (x.size() + variables.size())];
        if (operands[i].ignored.is_set()) g = where(logical_and(operands[i].ignored, equal(g, 0)), 0, g);
      }
    return all;
  };
  const auto traced = function([&](const List& x) { return run(x); });
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const DType dtype : o.dtypes) {
    CAPTURE(tandem::name(dtype));
    List ordinary;
    for (const Masked& x : operands) ordinary.push_back(cast(x.value, dtype));
    const List want = run(ordinary);
    for (const Tensor& t : want)
      if (is_floating(t.dtype())) REQUIRE(reduce_all(is_finite(t)).item<bool>());
    const List traced_want = o.traced ? traced(ordinary) : List();
    for (const float wrong : {NAN, infinity, -infinity}) {
      CAPTURE(wrong);
      List x;
      for (std::size_t i = 0; i < ordinary.size(); ++i)
        x.push_back(operands[i].ignored.is_set() ? where(operands[i].ignored, wrong, ordinary[i]) : ordinary[i]);
      detail::check_same(run(x), want);
      if (o.traced) {
        INFO("traced");
        detail::check_same(traced(x), traced_want);
      }
    }
  }
}

}  // namespace testing
