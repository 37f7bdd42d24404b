// nn::scaled_dot_product_attention against loops in double precision: masks, heads, long sequences, gradients.
#include "tandem/ops/attention/attention.hpp"

#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/attention/attention_gradients.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"

namespace attention_test {
using namespace tandem;
using loops::check_close, loops::numbers;
constexpr double inf = std::numeric_limits<double>::infinity();

// One matrix at a time: y = softmax(q k^T scale + bias) v, 0 for a row whose scores are all -inf.
std::vector<double> attend(const double* q, const double* k, const double* v, const double* bias, i64 m, i64 n, i64 d,
                           i64 e, double scale, bool causal) {
  std::vector<double> y(static_cast<std::size_t>(m * e));
  for (i64 i = 0; i < m; ++i) {
    std::vector<double> s(static_cast<std::size_t>(n), -inf);
    double top = -inf, sum = 0;
    for (i64 j = 0; j < n; ++j) {
      if (causal && j > i) continue;
      double dot = 0;
      for (i64 p = 0; p < d; ++p) dot += q[i * d + p] * k[j * d + p];
      double& at = s[static_cast<std::size_t>(j)];
      at = dot * scale + (bias ? bias[i * n + j] : 0);
      top = std::max(top, at);
    }
    if (top == -inf) continue;
    for (double& w : s) sum += w = std::exp(w - top);
    for (i64 j = 0; j < n; ++j)
      for (i64 c = 0; c < e; ++c)
        y[static_cast<std::size_t>(i * e + c)] += s[static_cast<std::size_t>(j)] / sum * v[j * e + c];
  }
  return y;
}
// The mask, repeated to [batches, m, n], as what is added to the scores.
std::vector<double> bias_of(const Tensor& mask, const Shape& scores) {
  const Tensor all = broadcast_to(mask.dtype() == bool_ ? cast(mask, float64) : cast(mask, float64), scores);
  std::vector<double> b = numbers(all);
  if (mask.dtype() == bool_)
    for (double& x : b) x = x != 0 ? 0 : -inf;
  return b;
}
struct Sizes {
  i64 batch, heads, key_heads, m, n, d, e;
};
void check_attention(const Sizes& s, DType dtype, const Tensor& mask, bool causal) {
  const Tensor q = loops::random({s.batch, s.heads, s.m, s.d}, 1, dtype);
  const Tensor k = loops::random({s.batch, s.key_heads, s.n, s.d}, 2, dtype);
  const Tensor v = loops::random({s.batch, s.key_heads, s.n, s.e}, 3, dtype);
  const auto qs = numbers(q), ks = numbers(k), vs = numbers(v);
  const auto bias = mask.is_set() ? bias_of(mask, {s.batch, s.heads, s.m, s.n}) : std::vector<double>();
  std::vector<double> want;
  for (i64 b = 0; b < s.batch * s.heads; ++b) {
    const i64 of_keys = b / s.heads * s.key_heads + b % s.heads / (s.heads / s.key_heads);
    const auto y = attend(qs.data() + b * s.m * s.d, ks.data() + of_keys * s.n * s.d, vs.data() + of_keys * s.n * s.e,
                          bias.empty() ? nullptr : bias.data() + b * s.m * s.n, s.m, s.n, s.d, s.e,
                          1 / std::sqrt(static_cast<double>(s.d)), causal);
    want.insert(want.end(), y.begin(), y.end());
  }
  INFO(s.batch << " " << s.heads << "/" << s.key_heads << " " << s.m << "x" << s.n << " of " << s.d << ", " << s.e);
  check_close(nn::scaled_dot_product_attention(q, k, v, {.mask = mask, .causal = causal}), want,
              dtype == float64 ? 1e-12 : 3e-6);
}
const Sizes all_sizes[] = {{1, 1, 1, 1, 1, 1, 1},    {2, 4, 2, 5, 7, 3, 4},       {1, 2, 1, 1, 300, 16, 17},
                           {2, 2, 2, 70, 33, 20, 8}, {1, 1, 1, 130, 600, 64, 64}, {1, 3, 3, 200, 257, 5, 33}};

TEST_CASE("attention of the specification's examples") {
  const Tensor q = eye(2), v = constant({{1.f, 2.f}, {3.f, 4.f}});
  check_close(nn::scaled_dot_product_attention(q, q, v), {1.6604769, 2.6604769, 2.3395231, 3.3395231}, 1e-6);
  check_close(nn::scaled_dot_product_attention(q, q, v, {.causal = true}), {1, 2, 2.3395231, 3.3395231}, 1e-6);
  const Tensor mask = constant({{false, false}, {true, false}});
  check_close(nn::scaled_dot_product_attention(q, q, v, {.mask = mask}), {0, 0, 1, 2}, 1e-6);
  check_close(nn::scaled_dot_product_attention(q, q, v, {.scale = 0.}), {2, 3, 2, 3}, 1e-6);
}

TEST_CASE("attention agrees with loops on every instruction set") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const Sizes& s : all_sizes)
      for (const DType dtype : {float32, float64})
        for (const bool causal : {false, true}) {
          check_attention(s, dtype, {}, causal);
          for (const Shape& m : {Shape{s.n}, Shape{s.m, 1}, Shape{s.m, s.n}, Shape{s.heads, 1, s.n},
                                 Shape{s.batch, 1, s.m, s.n}, Shape{s.batch, s.heads, s.m, s.n}}) {
            check_attention(s, dtype, loops::random(m, 5, dtype), causal);
            check_attention(s, dtype, loops::random_ints(m, 6, bool_, 0, 1), causal);
          }
        }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("gradients of attention agree with differences, to second order") {
  const Tensor q = loops::random({2, 4, 3, 2}, 1, float64), k = loops::random({2, 2, 4, 2}, 2, float64);
  const Tensor v = loops::random({2, 2, 4, 3}, 3, float64), w = loops::random({2, 4, 3, 3}, 4, float64);
  const Tensor added = loops::random({4, 1, 4}, 5, float64);
  const Tensor flags = constant({{true, false, true, true}, {false, false, false, false}, {true, true, false, true}});
  for (const int way : {0, 1, 2, 3}) {
    const auto f = [&](const std::vector<Tensor>& x) {
      const nn::AttentionOptions o{.mask = way == 1 ? x[3] : way == 2 ? flags : Tensor(), .causal = way == 3};
      return reduce_sum(square(nn::scaled_dot_product_attention(x[0], x[1], x[2], o)) * w);
    };
    INFO("way " << way);
    std::vector<Tensor> x{q, k, v};
    if (way == 1) x.push_back(added);
    attention_gradients::check(f, x);
  }
}

TEST_CASE("the fused gradient agrees with its decomposition over many tiles, for any number of threads") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const Sizes& s : all_sizes)
      for (const bool causal : {false, true}) {
        const Shape rows{s.batch, s.heads, s.m};
        std::vector<Tensor> in{loops::random({s.batch, s.heads, s.m, s.e}, 1),
                               loops::random({s.batch, s.heads, s.m, s.d}, 2),
                               loops::random({s.batch, s.key_heads, s.n, s.d}, 3),
                               loops::random({s.batch, s.key_heads, s.n, s.e}, 4),
                               loops::random(rows, 5) + 6.f,
                               loops::random(rows, 6),
                               loops::random_ints({s.m, s.n}, 7, bool_, 0, 1)};
        std::vector<const Tensor*> at;
        for (const Tensor& t : in) at.push_back(&t);
        const Attrs a = rules::AttentionAttrs{causal, true, 0};
        std::vector<Tensors> got;
        for (const int n : {1, 2, 5}) {
          const testing::Threads threads(n);
          got.push_back(apply(scaled_dot_product_attention_grad_op, at, a));
        }
        const Tensors want = scaled_dot_product_attention_grad_op.rare.decomposition(in, a);
        INFO(s.m << "x" << s.n << " causal " << causal);
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(want[i].shape() == got[0][i].shape());
          check_close(got[0][i], numbers(want[i]), 1e-4);
          CHECK(got[1][i].to_vector<float>() == got[0][i].to_vector<float>());
          CHECK(got[2][i].to_vector<float>() == got[0][i].to_vector<float>());
        }
      }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("attention does not depend on the number of threads") {
  const Tensor q = loops::random({3, 300, 40}, 1), k = loops::random({3, 500, 40}, 2),
               v = loops::random({3, 500, 9}, 3);
  std::vector<std::vector<float>> y;
  for (const int n : {1, 2, 5}) {
    const testing::Threads threads(n);
    y.push_back(nn::scaled_dot_product_attention(q, k, v, {.causal = true}).to_vector<float>());
  }
  CHECK(y[1] == y[0]);
  CHECK(y[2] == y[0]);
}

TEST_CASE("attention with NaN, infinities and masked rows") {
  const float nan = std::nanf("");
  const Tensor k = constant({{1.f}, {2.f}}), v = constant({{1.f}, {3.f}});
  const auto y = nn::scaled_dot_product_attention(constant({{nan}, {1.f}}), k, v).to_vector<float>();
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == Approx(1 + 2 / (1 + std::exp(-1.))));
  // Behind a mask they do not count.
  const Tensor beyond = constant({{nan}, {std::numeric_limits<float>::infinity()}, {1.f}, {2.f}});
  const Tensor values = constant({{5.f}, {6.f}, {1.f}, {3.f}}), flags = constant({false, false, true, true});
  const Tensor one = constant({{1.f}});
  CHECK(nn::scaled_dot_product_attention(one, beyond, values, {.mask = flags}).item<float>() == Approx(y[1]));
  const float low = -std::numeric_limits<float>::infinity();
  const Tensor hidden = constant({low, low, 0.f, 0.f});
  CHECK(nn::scaled_dot_product_attention(one, beyond, values, {.mask = hidden}).item<float>() == Approx(y[1]));
  const Tensor twice = stack(std::vector<Tensor>{beyond, beyond}), both = stack(std::vector<Tensor>{values, values});
  for (const Tensor& m : {flags, hidden})  // composed
    for (const double v : numbers(nn::scaled_dot_product_attention(constant({{{1.f}}}), twice, both, {.mask = m})))
      CHECK(v == Approx(y[1]));
  const Tensor q = constant({{1.f}, {1.f}}), mask = constant({{low, low}, {low, 0.f}});
  GradientTape tape;
  for (const Tensor* t : {&q, &k, &v, &mask}) tape.watch(*t);
  const Tensor z = nn::scaled_dot_product_attention(q, k, v, {.mask = mask});
  CHECK(z.to_vector<float>() == std::vector<float>{0, 3});
  const auto g = tape.gradient(z, {q, k, v, mask});
  CHECK(g[2].to_vector<float>() == std::vector<float>{0, 1});
  for (const std::size_t i : {0, 1, 3})
    for (const float x : g[i].to_vector<float>()) CHECK(x == 0);
}

TEST_CASE("attention in half precision rounds only its result") {
  for (const DType d : {float16, bfloat16}) {
    // More keys than queries are not fused. Without a future, query i is the mean of values 0 to i.
    const Tensor q = cast(loops::random({1, 300, 4}, 1), d), k = cast(loops::random({2, 300, 4}, 2), d);
    const Tensor v = cast(loops::random({2, 300, 3}, 3), d), m = cast(loops::random({300, 300}, 4), d);
    for (const bool composed : {true, false}) {
      const Tensor keys = composed ? k : k[0], values = composed ? v : v[0];
      for (const Tensor& mask : {Tensor(), m}) {
        const auto y = nn::scaled_dot_product_attention(q, keys, values, {.mask = mask, .causal = true});
        CHECK(y.dtype() == d);
        const Tensor want =
            nn::scaled_dot_product_attention(cast(q, float32), cast(keys, float32), cast(values, float32),
                                             {.mask = mask.is_set() ? cast(mask, float32) : mask, .causal = true});
        check_close(cast(y, float32), numbers(cast(cast(want, d), float32)), 0);
      }
    }
  }
}

TEST_CASE("attention whose operands broadcast, and with dropout") {
  const Tensor q = loops::random({2, 3, 4}, 1, float64), k = loops::random({5, 4}, 2, float64);
  const Tensor v = loops::random({5, 2}, 3, float64);
  // One matrix of keys for all; and more keys than queries, which the op does not fuse.
  const Tensor y = nn::scaled_dot_product_attention(q, k, v);
  const auto two = unstack(q);
  for (i64 i : {0, 1})
    check_close(y[i], numbers(nn::scaled_dot_product_attention(two[static_cast<std::size_t>(i)], k, v)), 1e-13);
  const Tensor one = reshape(two[0], {1, 3, 4}), many = stack(std::vector<Tensor>{k, k * 2.0});
  const Tensor wide = nn::scaled_dot_product_attention(one, many, stack(std::vector<Tensor>{v, v}));
  REQUIRE(wide.shape() == Shape{2, 3, 2});
  check_close(wide[1], numbers(nn::scaled_dot_product_attention(two[0], k * 2.0, v)), 1e-13);

  random::set_seed(3);
  const Tensor ones = tandem::ones({400, 50}), equal = zeros({400, 8});
  const auto drop = nn::scaled_dot_product_attention(equal, equal, tandem::ones({400, 1}), {.dropout_rate = 0.25});
  double mean = 0, spread = 0;
  for (const double x : numbers(drop)) mean += x / 400;
  for (const double x : numbers(drop)) spread += (x - mean) * (x - mean) / 400;
  CHECK(mean == Approx(1).margin(.01));
  CHECK(spread > 1e-4);  // each row is the mean of 400 weights that are 0 or 4 / 3
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(equal, equal, equal, {.dropout_rate = 1}),
                    ContainsSubstring("scaled_dot_product_attention: dropout_rate must be in [0, 1)"));
}

TEST_CASE("attention of nothing, with unknown dimensions, and of wrong operands") {
  const auto blank = [](const Shape& s) { return zeros(s); };
  CHECK(nn::scaled_dot_product_attention(blank({2, 0, 3}), blank({2, 4, 3}), blank({2, 4, 5})).shape() ==
        Shape{2, 0, 5});
  CHECK(nn::scaled_dot_product_attention(blank({2, 3}), blank({0, 3}), blank({0, 2})).to_vector<float>() ==
        std::vector<float>(4));
  const auto f = function(
      [](const Tensor& q, const Tensor& k) {
        GradientTape tape;
        tape.watch(q);
        tape.watch(k);
        const Tensor y = nn::scaled_dot_product_attention(q, k, k, {.causal = true});
        const auto g = tape.gradient(y * y, {q, k});
        return std::vector<Tensor>{y, g[0], g[1]};
      },
      {.input_signature = {TensorSpec{{none, none, none}, float64}, TensorSpec{{none, none, none}, float64}}});
  for (const i64 m : {3, 6}) {
    const Tensor q = loops::random({2, m, 4}, 1, float64), k = loops::random({1, 5, 4}, 2, float64);
    GradientTape tape;
    tape.watch(q);
    tape.watch(k);
    const Tensor y = nn::scaled_dot_product_attention(q, k, k, {.causal = true});
    const auto g = tape.gradient(y * y, {q, k});
    const auto got = f(q, k);
    check_close(got[0], numbers(y), 1e-13);
    check_close(got[1], numbers(g[0]), 1e-12);
    check_close(got[2], numbers(g[1]), 1e-12);
  }
  const Tensor q = blank({3, 2, 4});
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(q, blank({3, 5, 3}), blank({3, 5, 4})),
                    ContainsSubstring("scaled_dot_product_attention: shapes or dtypes do not match: expected q "
                                      "[..,m,d], k [..,n,d], v [..,n,e]"));
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(q, blank({2, 5, 4}), blank({2, 5, 4})),
                    ContainsSubstring("float32[3,2,4] x float32[2,5,4]"));
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(q, q, q, {.mask = blank({3, 3})}),
                    ContainsSubstring("the mask must be bool_ or of q's dtype and broadcast to (3, 2, 2)"));
  CHECK_THROWS_AS(nn::scaled_dot_product_attention(blank({4}), blank({4}), blank({4})), errors::InvalidArgumentError);
}

TEST_CASE("attention takes axis -3 for heads from rank 4 on, and sizes that come later") {
  const auto blank = [](const Shape& s) { return zeros(s); };
  CHECK_THROWS_WITH(nn::scaled_dot_product_attention(blank({8, 2, 4}), blank({4, 5, 4}), blank({4, 5, 4})),
                    ContainsSubstring("float32[8,2,4] x float32[4,5,4]"));
  CHECK_THROWS_AS(
      nn::scaled_dot_product_attention(blank({8, 2, 4}), blank({4, 5, 4}), blank({4, 5, 4}), {.dropout_rate = .5}),
      errors::InvalidArgumentError);
  // Queries whose batch is known only when they come.
  const auto g = function([](const Tensor& x, const Tensor& y) { return nn::scaled_dot_product_attention(x, y, y); },
                          {.input_signature = {TensorSpec{{none, 2, 4}, float32}, TensorSpec{{5, 3, 4}, float32}}});
  const Tensor keys = loops::random({5, 3, 4}, 1);
  for (const i64 batch : {1, 5}) {
    const Tensor x = loops::random({batch, 2, 4}, 2);
    check_close(g(x, keys), numbers(nn::scaled_dot_product_attention(x, keys, keys)), 1e-6);
  }
  CHECK_THROWS_AS(g(loops::random({2, 2, 4}, 2), keys), errors::InvalidArgumentError);
  const auto heads =
      function([](const Tensor& x, const Tensor& y) { return nn::scaled_dot_product_attention(x, y, y); },
               {.input_signature = {TensorSpec{{2, none, 2, 4}, float32}, TensorSpec{{2, 3, 3, 4}, float32}}});
  const Tensor of_heads = loops::random({2, 3, 3, 4}, 1);
  for (const i64 n : {1, 3, 6}) {
    const Tensor x = loops::random({2, n, 2, 4}, 2);
    check_close(heads(x, of_heads), numbers(nn::scaled_dot_product_attention(x, of_heads, of_heads)), 1e-6);
  }
}

}  // namespace attention_test
