// nn::scaled_dot_product_attention with .steps_first, operands [..., steps, heads, width], against the other layout:
// values, gradients of two orders, tiles and threads, unknown sizes, errors.
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/attention/attention_gradients.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"

namespace attention_layout_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using loops::check_close, loops::numbers;

Tensor swapped(const Tensor& t) {
  std::vector<int> order;
  for (int d = 0; d < t.rank(); ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(t.rank() - 2)], order[static_cast<std::size_t>(t.rank() - 3)]);
  Axes axes = Axes::none();
  for (const int d : order) axes.push_back(d);
  return transpose(t, {.perm = axes});
}
struct Sizes {
  i64 batch, heads, key_heads, m, n, d, e;
};
const Sizes all_sizes[] = {{1, 1, 1, 1, 1, 1, 1},  {2, 4, 2, 5, 7, 3, 4},       {3, 2, 2, 70, 33, 20, 8},
                           {2, 4, 1, 40, 9, 6, 5}, {1, 2, 2, 130, 600, 64, 48}, {1, 3, 3, 200, 257, 5, 33}};

TEST_CASE("attention with steps first is attention between transposes, values and gradients") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const Sizes& s : all_sizes)
      for (const DType dtype : {float32, float64})
        for (const int way : {0, 1, 2, 3}) {
          const Tensor q = loops::random({s.batch, s.m, s.heads, s.d}, 1, dtype);
          const Tensor k = loops::random({s.batch, s.n, s.key_heads, s.d}, 2, dtype);
          const Tensor v = loops::random({s.batch, s.n, s.key_heads, s.e}, 3, dtype);
          const Tensor g = loops::random({s.batch, s.m, s.heads, s.e}, 4, dtype);
          const Tensor mask = way == 2   ? loops::random({s.heads, 1, s.n}, 5, dtype)
                              : way == 3 ? loops::random_ints({s.batch, 1, s.m, s.n}, 6, bool_, 0, 1)
                                         : Tensor();
          INFO(s.m << "x" << s.n << " of " << s.heads << "/" << s.key_heads << " heads, way " << way);
          std::vector<Tensor> from{q, k, v};
          if (way == 2) from.push_back(mask);
          const auto run = [&](bool steps_first) {
            GradientTape tape;
            for (const Tensor& t : from) tape.watch(t);
            const auto in = [&](const Tensor& t) { return steps_first ? t : swapped(t); };
            Tensor y = nn::scaled_dot_product_attention(in(q), in(k), in(v),
                                                        {.mask = mask, .causal = way == 1, .steps_first = steps_first});
            if (!steps_first) y = swapped(y);
            std::vector<Tensor> all = tape.gradient(y, from, {.output_gradients = {g}});
            all.push_back(y);
            return all;
          };
          const auto got = run(true), want = run(false);
          for (std::size_t i = 0; i < want.size(); ++i) check_close(got[i], want[i], dtype == float64 ? 1e-12 : 1e-5);
        }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("attention with steps first: gradients agree with differences, to second order") {
  const Tensor q = loops::random({2, 3, 4, 2}, 1, float64), k = loops::random({2, 4, 2, 2}, 2, float64);
  const Tensor v = loops::random({2, 4, 2, 3}, 3, float64), w = loops::random({2, 3, 4, 3}, 4, float64);
  const Tensor added = loops::random({4, 1, 4}, 5, float64);
  for (const bool masked : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& x) {
      const nn::AttentionOptions o{.mask = masked ? x[3] : Tensor(), .causal = !masked, .steps_first = true};
      return reduce_sum(square(nn::scaled_dot_product_attention(x[0], x[1], x[2], o)) * w);
    };
    std::vector<Tensor> x{q, k, v};
    if (masked) x.push_back(added);
    attention_gradients::check(f, x);
  }
}

TEST_CASE("attention with steps first does not depend on the number of threads") {
  const Tensor q = loops::random({2, 300, 3, 40}, 1), k = loops::random({2, 500, 3, 40}, 2),
               v = loops::random({2, 500, 3, 9}, 3);
  std::vector<std::vector<std::vector<float>>> all;
  for (const int n : {1, 2, 5}) {
    const testing::Threads threads(n);
    GradientTape tape;
    for (const Tensor* t : {&q, &k, &v}) tape.watch(*t);
    const Tensor y = nn::scaled_dot_product_attention(q, k, v, {.causal = true, .steps_first = true});
    const auto g = tape.gradient(y * y, {q, k, v});
    all.push_back({y.to_vector<float>(), g[0].to_vector<float>(), g[1].to_vector<float>(), g[2].to_vector<float>()});
  }
  CHECK(all[1] == all[0]);
  CHECK(all[2] == all[0]);
}

TEST_CASE("attention with steps first: operands that broadcast, half precision, nothing") {
  const Tensor q = loops::random({2, 3, 4, 5}, 1, float64), k = loops::random({6, 4, 5}, 2, float64);
  const auto with = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return nn::scaled_dot_product_attention(q, k, v, {.steps_first = true});
  };
  const auto without = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return swapped(nn::scaled_dot_product_attention(swapped(q), swapped(k), swapped(v)));
  };
  check_close(with(q, k, k), without(q, k, k), 1e-13);  // one matrix of keys for the batch
  check_close(with(q[0], k, k), without(q[0], k, k), 1e-13);
  const Tensor one = q(Slice(), Slice(), Slice(0, 1));  // one head of queries, which is not fused
  check_close(with(one, k, k), without(one, k, k), 1e-13);
  const Tensor h = cast(q, bfloat16), hk = cast(k, bfloat16);
  CHECK(with(h, hk, hk).dtype() == bfloat16);
  check_close(cast(with(h, hk, hk), float32), cast(without(h, hk, hk), float32), 0);
  CHECK(with(zeros({2, 0, 3, 4}), zeros({2, 5, 3, 4}), zeros({2, 5, 3, 6})).shape() == Shape{2, 0, 3, 6});
  CHECK(numbers(with(zeros({2, 3, 4}), zeros({0, 3, 4}), zeros({0, 3, 1}))) == std::vector<double>(6));
}

TEST_CASE("attention with steps first: sizes that come later, and wrong operands") {
  const auto step = [](const Tensor& q, const Tensor& k) {
    GradientTape tape;
    tape.watch(q);
    tape.watch(k);
    const Tensor y = nn::scaled_dot_product_attention(q, k, k, {.causal = true, .steps_first = true});
    const auto g = tape.gradient(y * y, {q, k});
    return std::vector<Tensor>{y, g[0], g[1]};
  };
  const auto f = function(
      step, {.input_signature = {TensorSpec{{none, none, 4, 3}, float64}, TensorSpec{{none, none, none, 3}, float64}}});
  for (const i64 m : {3, 6})
    for (const i64 heads : {2, 4}) {
      const Tensor q = loops::random({2, m, 4, 3}, 1, float64), k = loops::random({2, 5, heads, 3}, 2, float64);
      const auto got = f(q, k), want = step(q, k);
      for (std::size_t i = 0; i < 3; ++i) check_close(got[i], want[i], 1e-12);
    }
  CHECK(f.trace_count() == 1);
  const auto call = [](const Shape& q, const Shape& k, const Tensor& mask = {}) {
    return nn::scaled_dot_product_attention(zeros(q), zeros(k), zeros(k), {.mask = mask, .steps_first = true});
  };
  CHECK_THROWS_WITH(call({2, 4}, {2, 4}), ContainsSubstring("need one rank, 3 or more"));
  CHECK_THROWS_WITH(call({2, 3, 4, 5}, {4, 5}), ContainsSubstring("need one rank, 3 or more"));
  CHECK_THROWS_WITH(call({2, 6, 4, 5}, {2, 7, 3, 5}), ContainsSubstring("expected q [..,m,heads,d], k [..,n,heads,d]"));
  CHECK_THROWS_WITH(call({2, 6, 4, 5}, {2, 7, 4, 5}, zeros({6, 4})),
                    ContainsSubstring("the mask must be bool_ or of q's dtype and broadcast to (2, 4, 6, 7)"));
}

}  // namespace attention_layout_test
