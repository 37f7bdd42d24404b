// Moving and choosing data in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::layout;
using tandem::Tensor;

template <class F>
void add(const Size& s, const char* operation, F f) {
  bench::add(s.name(operation), [=] {
    return bench::repeat([f, a = bench::tandem_normal({s.rows, s.columns}, 1),
                          b = bench::tandem_normal({s.rows, s.columns}, 2),
                          c = bench::tandem_normal({s.rows, s.columns}, 3)] { return f(a, b, c); });
  });
}

bench::Work choose(const Size& s) {
  const Tensor a = bench::tandem_normal({s.rows, s.columns}, 1), b = bench::tandem_normal({s.rows, s.columns}, 2);
  return bench::repeat([a, b, m = a > b] { return tandem::where(m, a, b); });
}

bool add_all() {
  using T = const Tensor&;
  for (const Size& s : sizes) {
    add(s, "concat_axis0", [](T a, T b, T c) { return tandem::concat({a, b, c}, 0); });
    add(s, "concat_axis1", [](T a, T b, T c) { return tandem::concat({a, b, c}, 1); });
    add(s, "stack_axis0", [](T a, T b, T c) { return tandem::stack({a, b, c}, 0); });
    add(s, "stack_axis2", [](T a, T b, T c) { return tandem::stack({a, b, c}, 2); });
    add(s, "transpose", [](T a, T, T) { return tandem::transpose(a); });
    bench::add(s.name("where"), [=] { return choose(s); });
  }
  return bench::add(swap_heads, [] {
    return bench::repeat([x = bench::tandem_normal({batch, tokens, heads, width}, 1)] {
      return tandem::transpose(x, {0, 2, 1, 3});
    });
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
