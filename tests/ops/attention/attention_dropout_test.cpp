// Dropout inside of nn::scaled_dot_product_attention: the mask is a function of key and position only, the same in the
// kernel, its gradient and their decompositions, and never stored.
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/attention/attention_gradients.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/threads.hpp"

namespace attention_dropout_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using loops::check_close, loops::numbers;
using Floats = std::vector<float>;

const Tensor key = constant({i64{7}, i64{11}});

Tensors apply_to(const OpDef& op, const std::vector<Tensor>& in, const Attrs& a) {
  std::vector<const Tensor*> at;
  for (const Tensor& t : in) at.push_back(&t);
  return apply(op, at, a);
}
// Several tiles, and rows whose weights begin anywhere in a group of random words.
struct Sizes {
  i64 batch, heads, key_heads, m, n, d, e;
};
const Sizes all_sizes[] = {
    {1, 1, 1, 1, 1, 1, 1}, {2, 4, 2, 5, 7, 3, 4}, {1, 2, 1, 130, 300, 8, 17}, {2, 1, 1, 9, 513, 4, 3}};

TEST_CASE("attention with dropout agrees with its decomposition, forward and backward, for any number of threads") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const Sizes& s : all_sizes)
      for (const DType dtype : {float32, float64})
        for (const int way : {0, 1, 2}) {
          const bool steps_first = way == 2;
          const auto operand = [&](i64 heads, i64 steps, i64 width, unsigned seed) {
            const Shape shape = steps_first ? Shape{s.batch, steps, heads, width} : Shape{s.batch, heads, steps, width};
            return loops::random(shape, seed, dtype);
          };
          const Shape rows{s.batch, s.heads, s.m};
          const Tensor g = operand(s.heads, s.m, s.e, 1), q = operand(s.heads, s.m, s.d, 2);
          const Tensor k = operand(s.key_heads, s.n, s.d, 3), v = operand(s.key_heads, s.n, s.e, 4);
          const Tensor mask = loops::random_ints({s.m, s.n}, 7, bool_, 0, 1);
          std::vector<Tensor> forward{q, k, v},
              backward{g, q, k, v, loops::random(rows, 5, dtype) + 6., loops::random(rows, 6, dtype)};
          for (auto* in : {&forward, &backward}) {
            if (way) in->push_back(mask);
            in->push_back(key);
          }
          const Attrs a = rules::AttentionAttrs{way == 1, true, 0, steps_first, 0.3};
          INFO(s.m << "x" << s.n << " way " << way);
          const double tolerance = dtype == float64 ? 1e-11 : 1e-4;
          for (const bool back : {false, true}) {
            const OpDef& op = back ? scaled_dot_product_attention_grad_op : scaled_dot_product_attention_op;
            const auto& in = back ? backward : forward;
            const Tensors want = op.rare.decomposition(in, a);
            std::vector<Tensors> got;
            for (const int n : {1, 2, 5}) {
              const testing::Threads threads(n);
              got.push_back(apply_to(op, in, a));
            }
            for (std::size_t i = 0; i < want.size(); ++i) {
              check_close(got[0][i], want[i], tolerance);
              CHECK(numbers(got[1][i]) == numbers(got[0][i]));
              CHECK(numbers(got[2][i]) == numbers(got[0][i]));
            }
          }
        }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("attention with dropout: the weights that stay are those that dropout keeps") {
  // With equal scores and the identity as values, the result is the weights.
  const i64 n = 70;
  const Tensor zero = zeros({2, 3, n, 4}), all = tile(reshape(eye(n), {1, 1, n, n}), {2, 3, 1, 1});
  const Attrs a = rules::AttentionAttrs{false, true, 0, false, 0.4};
  const Tensor y = apply_to(scaled_dot_product_attention_op, {zero, zero, all, key}, a)[0];
  const Tensor want = apply1(dropout_op, rules::DropoutAttrs{0.4}, no_options, fill({2, 3, n, n}, 1.f / n), key);
  check_close(y, want, 1e-6);
}

TEST_CASE("attention with dropout: gradients agree with differences, to second order") {
  const Tensor q = loops::random({2, 4, 3, 2}, 1, float64), k = loops::random({2, 2, 4, 2}, 2, float64);
  const Tensor v = loops::random({2, 2, 4, 3}, 3, float64), w = loops::random({2, 4, 3, 3}, 4, float64);
  const Tensor added = loops::random({4, 1, 4}, 5, float64);
  for (const bool masked : {false, true}) {
    const Attrs a = rules::AttentionAttrs{!masked, true, 0, false, 0.4};
    const auto f = [&](std::vector<Tensor> x) {
      x.push_back(key);
      return reduce_sum(square(apply_to(scaled_dot_product_attention_op, x, a)[0]) * w);
    };
    std::vector<Tensor> x{q, k, v};
    if (masked) x.push_back(added);
    attention_gradients::check(f, x);
  }
}

TEST_CASE("attention with dropout: set_seed repeats, every call of a traced function draws anew") {
  const Tensor x = loops::random({2, 3, 20, 4}, 1);
  const auto f = [&](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = nn::scaled_dot_product_attention(t, t, t, {.dropout_rate = 0.5});
    return std::vector<Tensor>{y, tape.gradient(y, t)};
  };
  const auto traced = function(f);
  for (const bool in_trace : {false, true}) {
    const auto twice = [&] {
      std::vector<Floats> r;
      for (int i = 0; i < 2; ++i)
        for (const Tensor& t : in_trace ? traced(x) : f(x)) r.push_back(t.to_vector<float>());
      return r;
    };
    random::set_seed(5);
    const auto first = twice();
    CHECK(first[0] != first[2]);
    CHECK(first[1] != first[3]);
    random::set_seed(5);
    CHECK(twice() == first);
  }
  CHECK(traced.trace_count() == 1);
  random::set_seed(5);
  const Tensor eager = f(x)[1];
  random::set_seed(5);
  check_close(traced(x)[1], eager, 1e-5);
  const auto seeded = [&] { return nn::scaled_dot_product_attention(x, x, x, {.dropout_rate = 0.5, .seed = 3}); };
  random::set_seed(5);
  const Floats one = seeded().to_vector<float>();
  random::set_seed(5);
  (void)f(x);
  CHECK(seeded().to_vector<float>() == one);
}

TEST_CASE("attention with dropout on another device") {
  const sim::Installed installed;
  const Tensor x = loops::random({2, 9, 3, 4}, 1), there = x.to(sim::device);
  const auto f = [](const Tensor& t) {
    random::set_seed(2);
    GradientTape tape;
    tape.watch(t);
    const Tensor y = nn::scaled_dot_product_attention(t, t, t, {.steps_first = true, .dropout_rate = 0.5});
    return std::vector<Tensor>{y, tape.gradient(y, t)};
  };
  const auto want = f(x);
  const auto check = [&](double tolerance) {
    const auto got = f(there);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(got[i].device() == sim::device);
      check_close(got[i].to(Device{}), want[i], tolerance);
    }
  };
  check(0);
  const sim::Without composed(scaled_dot_product_attention_op);
  const auto before = sim::counts().launches;
  check(1e-5);
  CHECK(sim::counts().launches > before + 10);  // of small ops
}

TEST_CASE("attention with dropout stores no matrix of weights") {
  const Tensor x = loops::random({1, 2, 1500, 8}, 1);
  memory::reset_peak();
  const auto before = memory::info().peak;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::scaled_dot_product_attention(x, x, x, {.dropout_rate = 0.1});
  const Tensor g = tape.gradient(y, x);
  CHECK(memory::info().peak - before < 1500 * 1500 * 4 / 2);  // half of the weights of one head
}

TEST_CASE("attention with dropout: half precision, operands that broadcast, errors that draw no key") {
  random::set_seed(1);
  const Tensor x = loops::random({2, 3, 20, 4}, 1), h = cast(x, bfloat16), wide = cast(h, float32);
  const auto run = [](const Tensor& q, const Tensor& k, bool steps_first = false) {
    return nn::scaled_dot_product_attention(q, k, k, {.steps_first = steps_first, .dropout_rate = 0.5, .seed = 4});
  };
  const Tensor got = run(h, h);
  random::set_seed(1);
  CHECK(got.dtype() == bfloat16);
  check_close(cast(got, float32), cast(cast(run(wide, wide), bfloat16), float32), 0);
  random::set_seed(1);
  const Tensor composed = run(x[0](Slice(0, 1)), x[0]);  // one matrix of queries for three of keys
  random::set_seed(1);
  check_close(composed, run(tile(x[0](Slice(0, 1)), {3, 1, 1}), x[0]), 1e-6);
  random::set_seed(1);
  const Floats before = random::uniform({3}).to_vector<float>();
  random::set_seed(1);
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(x, x, x[0], {.dropout_rate = 0.5}),
                    ContainsSubstring("scaled_dot_product_attention"));
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(x, zeros({2, 3, 20, 5}), x, {.dropout_rate = 0.5}),
                    ContainsSubstring("shapes or dtypes do not match"));
  CHECK(random::uniform({3}).to_vector<float>() == before);
  const auto with = [&](const std::vector<Tensor>& in, double rate) {
    return apply_to(scaled_dot_product_attention_op, in, rules::AttentionAttrs{false, true, 0, false, rate});
  };
  CHECK_THROWS_WITH(with({x, x, x, key}, 1), ContainsSubstring("rate"));
  CHECK_THROWS_WITH(with({x, x, x}, 0.5), ContainsSubstring("key"));
  CHECK_THROWS_AS(with({x, x, x, x, x}, 0.5), errors::InvalidArgumentError);
}

}  // namespace attention_dropout_test
