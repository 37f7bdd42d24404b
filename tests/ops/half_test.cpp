// float16 and bfloat16 in ops that compute in float32: products, reductions, training. Every op of the table:
// table_test.
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/half_rounded.hpp"

using namespace tandem;
using namespace half_rounded;

namespace {
std::vector<float> floats(const Tensor& x) { return cast(x, float32).to_vector<float>(); }
using Floats = std::vector<float>;
}  // namespace

TEST_CASE("half precision: products and reductions are summed in float32 and rounded once") {
  for (const DType half : {float16, bfloat16}) {
    const Tensor a = cast(constant({{1.f, 2.f}, {3.f, 4.f}}), half);
    const Tensor y = matmul(a, a);
    CHECK(y.dtype() == half);
    CHECK(floats(y) == Floats{7, 10, 15, 22});
    CHECK(reduce_sum(a).dtype() == half);
    CHECK(floats(reduce_mean(a, 0)) == Floats{2, 3});
    CHECK(floats(reduce_max(a, 1)) == Floats{2, 4});
    CHECK(argmax(a, 1).to_vector<i64>() == std::vector<i64>{1, 1});
    CHECK(floats(cumsum(a, 1)) == Floats{1, 3, 3, 7});
    CHECK(reduce_sum(nn::softmax(a)).dtype() == half);
  }
  // 4,096 ones: one by one float16 would stop at 2,048, bfloat16 at 256.
  CHECK(floats(reduce_sum(ones({4096}, float16))) == Floats{4096});
  CHECK(floats(reduce_sum(ones({4096}, bfloat16))) == Floats{4096});
  CHECK(floats(matmul(ones({1, 4096}, bfloat16), ones({4096, 1}, bfloat16))) == Floats{4096});
  // The count of elements is beyond float16's range, their mean is not.
  const Tensor many = ones({100000}, float16);
  CHECK(floats(reduce_mean(many)) == Floats{1});
  GradientTape tape;
  tape.watch(many);
  const Tensor g = tape.gradient(reduce_mean(many) * 60000.f, many);
  CHECK(g.dtype() == float16);
  CHECK(floats(g)[99999] == Approx(0.6f).epsilon(1e-3));
}

TEST_CASE("half precision: gradients, broadcasting and traced functions") {
  const Tensor x = cast(constant({{.5f, -1.f}, {2.f, .25f}}), bfloat16), b = cast(constant({1.f, 2.f}), bfloat16);
  const auto loss = [&](const Tensor& w, const Tensor& c) { return reduce_sum(square(matmul(x, w) + c)); };
  const Tensor w = cast(constant({{1.f, 0.f}, {.5f, -2.f}}), bfloat16);
  const auto slopes = [&](const Tensor& u, const Tensor& c) {
    GradientTape tape;
    tape.watch(u), tape.watch(c);
    return tape.gradient(loss(u, c), {u, c});
  };
  const auto eager = slopes(w, b);
  const auto traced = function([&](const Tensor& u, const Tensor& c) {
    const auto g = slopes(u, c);
    return std::pair(g[0], g[1]);
  })(w, b);
  CHECK(eager[0].dtype() == bfloat16);
  CHECK(eager[1].shape() == Shape{2});
  CHECK(floats(eager[0]) == floats(traced.first));
  CHECK(floats(eager[1]) == floats(traced.second));
  const auto wide = [&] {
    const Tensor u = cast(w, float32), c = cast(b, float32);
    GradientTape tape;
    tape.watch(u), tape.watch(c);
    return tape.gradient(reduce_sum(square(matmul(cast(x, float32), u) + c)), {u, c});
  }();
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < floats(wide[k]).size(); ++i)
      // bfloat16 has 8 bits (4e-3), and each result goes through four roundings.
      CHECK(floats(eager[k])[i] == Approx(floats(wide[k])[i]).epsilon(2e-2).margin(2e-2));
}

TEST_CASE("half precision: two dtypes in one op raise and name both") {
  const Tensor a = ones({2, 2}, float16);
  CHECK_THROWS_WITH(matmul(a, ones({2, 2}, bfloat16)), ContainsSubstring("float16 and bfloat16 cannot be mixed"));
  CHECK_THROWS_WITH(matmul(a, ones({2, 2})), ContainsSubstring("float16 and float32 cannot be mixed"));
}

TEST_CASE("half precision: tiles, rows longer than one, and columns give float32's bits, rounded") {
  for (const DType half : {bfloat16, float16}) {
    for (const Shape& s : {Shape{3, 5000}, {300, 40}, {1, 1}, {0, 5}, {4, 7, 130}, {2, 3, 64}}) {
      CAPTURE(s);
      const Tensor x = drawn(s, half, 1), scale = drawn({s.dim(-1)}, half, 2), g = drawn(s, half, 3);
      for (const int axis : {-1, 0}) {
        check_rounded(
            "softmax", [&](const Tensor& t) { return nn::softmax(t, {.axis = axis}); }, x);
        check_rounded(
            "log_softmax", [&](const Tensor& t) { return nn::log_softmax(t, {.axis = axis}); }, x);
        check_rounded(
            "sum", [&](const Tensor& t) { return reduce_sum(t, axis); }, x);
        check_rounded(
            "mean", [&](const Tensor& t) { return reduce_mean(t, axis); }, x);
        check_rounded(
            "max", [&](const Tensor& t) { return reduce_max(t, axis); }, x);
      }
      check_rounded(
          "sum of all", [](const Tensor& t) { return reduce_sum(t); }, x);
      check_rounded(
          "norm", [](const Tensor& t, const Tensor& a) { return nn::layer_norm(t, {.scale = a, .offset = a}); }, x,
          scale);
      for (const std::size_t k : {0, 1})
        check_rounded(
            "norm's gradient",
            [&](const Tensor& t, const Tensor& a, const Tensor& up) {
              GradientTape tape;
              tape.watch(t), tape.watch(a);
              const Tensor y = nn::layer_norm(t, {.scale = a});
              return tape.gradient(y, {t, a}, {.output_gradients = {up}})[k];
            },
            x, scale, g);
      if (s.rank() != 2 || s.dim(0) == 0) continue;
      const Tensor labels = cast(range(s.dim(0)), int32) % static_cast<int>(s.dim(1));
      const auto loss = [&](const Tensor& t) { return nn::sparse_softmax_cross_entropy_with_logits(labels, t); };
      check_rounded("loss", loss, x);
      check_rounded(
          "loss's gradient",
          [&](const Tensor& t) {
            GradientTape tape;
            tape.watch(t);
            return tape.gradient(loss(t), t);
          },
          x);
    }
    const Tensor many = drawn({200000}, half, 4), tall = drawn({5000, 20}, half, 5);
    check_rounded(
        "a long sum", [](const Tensor& t) { return reduce_sum(t); }, many);
    check_rounded(
        "tall columns", [](const Tensor& t) { return reduce_sum(t, 0); }, tall);
  }
}

TEST_CASE("half precision: a batch of products, and a gradient's count beyond float16's range") {
  for (const DType half : {bfloat16, float16}) {
    const Tensor a = drawn({4, 1, 30, 50}, half, 1), b = drawn({3, 50, 20}, half, 2);
    check_rounded(
        "batch", [](const Tensor& x, const Tensor& y) { return matmul(x, y); }, a, b);
    check_rounded(
        "transposed",
        [](const Tensor& x, const Tensor& y) { return matmul(y, x, {.transpose_a = true, .transpose_b = true}); }, a,
        b);
    check_rounded(
        "vector", [](const Tensor& x, const Tensor& y) { return linalg::matvec(x, y); }, drawn({6, 30, 50}, half, 3),
        drawn({50}, half, 4));
    const Tensor equal_ones = ones({100000}, half);
    check_rounded(
        "ties",
        [](const Tensor& t) {
          GradientTape tape;
          tape.watch(t);
          return tape.gradient(reduce_max(t) * 16384.f, t);
        },
        equal_ones);
  }
}

namespace {
// Learns the argmax of a linear map by a layer norm, a product and a softmax computed in a dtype, with float32 weights;
// the loss before and after.
std::pair<float, float> train(DType dtype) {
  const Tensor x = random::stateless_normal({64, 8}, {1, 2}), map = random::stateless_normal({8, 4}, {3, 4});
  const Tensor labels = one_hot(argmax(matmul(x, map), 1), 4);
  Variable w(zeros({8, 4}));
  auto step = function([&](const Tensor& in, const Tensor& wanted) {
    GradientTape tape;
    const Tensor y = matmul(nn::layer_norm(cast(in, dtype)), cast(w, dtype)), p = nn::softmax(y);
    CHECK((y.dtype() == dtype && p.dtype() == dtype));
    const Tensor loss = -reduce_mean(reduce_sum(wanted * log(cast(p, float32)), 1));
    const Tensor g = tape.gradient(loss, w);
    CHECK(g.dtype() == float32);
    w.assign_sub(g * 0.5f);
    return loss;
  });
  const float first = step(x, labels).item<float>();
  for (int i = 0; i < 200; ++i) step(x, labels);
  return {first, step(x, labels).item<float>()};
}
}  // namespace

TEST_CASE("half precision: training with float32 master weights, softmax and a norm in between") {
  const float wide = train(float32).second;
  CHECK(wide < 0.5f);
  for (const DType half : {bfloat16, float16}) {
    CAPTURE(name(half));
    const auto [first, last] = train(half);
    // The weights are float32, what is computed from them has 11 or 8 bits, 200 times over.
    CHECK(first == Approx(std::log(4.f)).epsilon(1e-2));
    CHECK(last == Approx(wide).epsilon(half == float16 ? 5e-3 : 3e-2));
  }
}
