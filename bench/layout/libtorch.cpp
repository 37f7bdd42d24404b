// Moving and choosing data in LibTorch; views are made contiguous, because ours are.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::layout;

template <class F>
void add(const Size& s, const char* operation, F f) {
  bench::add(s.name(operation), [=] {
    return bench::repeat_no_grad([f, a = bench::torch_normal({s.rows, s.columns}, 1),
                                  b = bench::torch_normal({s.rows, s.columns}, 2),
                                  c = bench::torch_normal({s.rows, s.columns}, 3)] { return f(a, b, c); });
  });
}

bench::Work choose(const Size& s) {
  const at::Tensor a = bench::torch_normal({s.rows, s.columns}, 1), b = bench::torch_normal({s.rows, s.columns}, 2);
  return bench::repeat_no_grad([a, b, m = a > b] { return torch::where(m, a, b); });
}

bool add_all() {
  using T = const at::Tensor&;
  for (const Size& s : sizes) {
    add(s, "concat_axis0", [](T a, T b, T c) { return torch::cat({a, b, c}, 0); });
    add(s, "concat_axis1", [](T a, T b, T c) { return torch::cat({a, b, c}, 1); });
    add(s, "stack_axis0", [](T a, T b, T c) { return torch::stack({a, b, c}, 0); });
    add(s, "stack_axis2", [](T a, T b, T c) { return torch::stack({a, b, c}, 2); });
    add(s, "transpose", [](T a, T, T) { return a.t().contiguous(); });
    bench::add(s.name("where"), [=] { return choose(s); });
  }
  return bench::add(swap_heads, [] {
    return bench::repeat_no_grad([x = bench::torch_normal({batch, tokens, heads, width}, 1)] {
      return x.permute({0, 2, 1, 3}).contiguous();
    });
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
