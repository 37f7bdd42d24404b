// Cross entropies from logits: examples, extreme logits, sparse against dense, labels' gradients, label errors.
#include "tandem/ops/softmax/cross_entropy.hpp"

#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/softmax/softmax.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"

namespace cross_entropy_test {
using namespace tandem;
using loops::numbers;
constexpr float inf = std::numeric_limits<float>::infinity();

template <class F>
Tensor slope(const F& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}

TEST_CASE("cross entropy examples") {
  const Tensor labels = constant({.5f, .5f}), logits = constant({1000.f, 0.f});
  const auto of_logits = [&](const Tensor& t) { return nn::softmax_cross_entropy_with_logits(labels, t); };
  CHECK(of_logits(logits).item<float>() == 500);
  CHECK(slope(of_logits, logits).to_vector<float>() == std::vector<float>{.5f, -.5f});
  const Tensor three = constant({1.f, 2.f, 3.f});
  CHECK(nn::sparse_softmax_cross_entropy_with_logits(constant(2), three).item<float>() == Approx(.4076060));
  CHECK(nn::softmax_cross_entropy_with_logits(constant({0.f, 1.f}), constant({-inf, 2.f})).item<float>() == 0);
  CHECK(nn::weighted_cross_entropy_with_logits(constant({.5f}), constant({1.f}), 2).item<float>() == Approx(.9698925));
  const Tensor x = constant({1000.f, 1000.f, -1000.f, -1000.f, 0.f}), z = constant({0.f, 1.f, 0.f, 1.f, .5f});
  const auto s = nn::sigmoid_cross_entropy_with_logits(z, x).to_vector<float>();
  CHECK(s == std::vector<float>{1000, 0, 0, 1000, s[4]});
  CHECK(s[4] == Approx(std::log(2.0)));
}

TEST_CASE("the dense form agrees with loops on every axis") {
  for (const Shape& s : {Shape{3}, Shape{2, 37}, Shape{3, 4, 5}, Shape{6, 5, 19}})
    for (int axis = 0; axis < s.rank(); ++axis) {
      const Tensor z = loops::random(s, 1), x = loops::random(s, 2) * 10;
      const auto got = numbers(nn::softmax_cross_entropy_with_logits(z, x, {.axis = axis - s.rank()}));
      const auto labels = loops::groups(s, numbers(z), 1u << axis), logits = loops::groups(s, numbers(x), 1u << axis);
      REQUIRE(got.size() == labels.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        double sum = 0, loss = 0, size = 0;  // the labels have both signs: their terms cancel
        for (double v : logits[i].values) sum += std::exp(v);
        for (std::size_t j = 0; j < logits[i].values.size(); ++j) {
          const double term = labels[i].values[j] * (std::log(sum) - logits[i].values[j]);
          loss += term, size += std::abs(term);
        }
        REQUIRE(std::abs(got[i] - loss) <= 1e-6 * size);
      }
    }
}

TEST_CASE("the sparse form equals the dense one on one-hot labels, with its gradient") {
  const i64 n = 37, rows = 6;
  const Tensor x = loops::random({rows, n}, 7) * 20;
  std::vector<int> places;
  std::vector<float> hot(static_cast<std::size_t>(rows * n));
  for (i64 r = 0; r < rows; ++r) {
    places.push_back(static_cast<int>(r * 7 % n));
    hot[static_cast<std::size_t>(r * n + r * 7 % n)] = 1;
  }
  const Tensor dense = constant(hot, {.shape = {rows, n}});
  for (DType d : {DType::int32, DType::int64}) {
    const Tensor labels = constant(places, {.dtype = d});
    const auto sparse_loss = [&](const Tensor& t) { return nn::sparse_softmax_cross_entropy_with_logits(labels, t); };
    const auto dense_loss = [&](const Tensor& t) { return nn::softmax_cross_entropy_with_logits(dense, t); };
    CHECK(test::max_error(sparse_loss(x), dense_loss(x)) < 1e-5);
    CHECK(test::max_error(slope(sparse_loss, x), slope(dense_loss, x)) < 1e-6);
    CHECK(nn::sparse_softmax_cross_entropy_with_logits(constant(places, {.dtype = d, .shape = {2, 3}}),
                                                       loops::random({2, 3, n}, 1))
              .shape() == Shape{2, 3});
  }
}

TEST_CASE("the sparse gradient at extreme logits") {
  const Tensor x = constant({{1000.f, 0.f, -inf}, {-inf, 3.f, 3.f}, {0.f, 1000.f, 0.f}});
  const Tensor labels = constant({1, 0, 1});
  const auto loss = [&](const Tensor& t) { return nn::sparse_softmax_cross_entropy_with_logits(labels, t); };
  CHECK(loss(x).to_vector<float>() == std::vector<float>{1000, inf, 0});
  CHECK(slope(loss, x).to_vector<float>() == std::vector<float>{1, -1, 0, -1, .5f, .5f, 0, 0, 0});
}

TEST_CASE("cross entropy gradients agree with differences, labels and second order included") {
  const test::CheckOptions fine{.delta = 1e-5};
  for (const Shape& s : {Shape{4}, Shape{2, 3}, Shape{2, 3, 2}}) {
    const Tensor z = loops::random(s, 11, DType::float64), x = loops::random(s, 12, DType::float64);
    const Tensor labels = loops::random_ints(loops::reduced(s, 1u << (s.rank() - 1), false), 3, DType::int32, 0, 1);
    const auto check = [&](const auto& f, const std::vector<Tensor>& at) {
      CHECK(test::compute_gradient_error([&](const std::vector<Tensor>& t) { return square(f(t)); }, at, fine) < 1e-7);
      for (std::size_t k = 0; k < at.size(); ++k)
        CHECK(test::compute_gradient_error(
                  [&](const std::vector<Tensor>& t) {
                    return slope(
                        [&](const Tensor& moved) {
                          std::vector<Tensor> u = t;
                          u[k] = moved;
                          return square(f(u));
                        },
                        t[k]);
                  },
                  at, fine) < 1e-6);
    };
    for (int axis = 0; axis < s.rank(); ++axis)
      check([&](const auto& t) { return nn::softmax_cross_entropy_with_logits(t[0], t[1], {.axis = axis}); }, {z, x});
    check([&](const auto& t) { return nn::sparse_softmax_cross_entropy_with_logits(labels, t[0]); }, {x});
    check([&](const auto& t) { return nn::sigmoid_cross_entropy_with_logits(t[0], t[1]); }, {z, x});
    check([&](const auto& t) { return nn::weighted_cross_entropy_with_logits(t[0], t[1], t[2]); },
          {z, x, constant(2., {.dtype = DType::float64})});
  }
}

TEST_CASE("fused rows agree with their references") {
  const Tensor z = loops::random({5, 37}, 1), x = loops::random({5, 37}, 2), g = loops::random({5}, 3);
  const Tensor labels = loops::random_ints({5}, 4, DType::int64, 0, 36);
  const auto same = [&](const OpDef& op, const std::vector<Tensor>& in, const Attrs& a) {
    std::vector<const Tensor*> at;
    for (const Tensor& t : in) at.push_back(&t);
    const Tensor want = op.rare.decomposition(in, a)[0];
    CHECK(test::max_error(apply(op, at, a)[0], want) < 1e-6 * reduce_max(abs(want)).item<float>());
  };
  const Attrs last = rules::SoftmaxAttrs{-1};
  same(softmax_cross_entropy_op, {z, x}, last);
  same(softmax_cross_entropy_grad_op, {g, z, x}, last);
  same(sparse_softmax_cross_entropy_op, {labels, x}, no_attrs);
  same(sparse_softmax_cross_entropy_grad_op, {g, labels, x}, no_attrs);
}

TEST_CASE("a distribution that is its own label: the gradients of both sides add up") {
  Tensor w = constant({2.f, -1.f, 0.f, 1.f, .5f});
  for (int step = 0; step < 2000; ++step)
    w = w + slope([](const Tensor& t) { return nn::softmax_cross_entropy_with_logits(nn::softmax(t), t); }, w) * .5f;
  for (float p : nn::softmax(w).to_vector<float>()) CHECK(p == Approx(.2).epsilon(1e-3));
}

TEST_CASE("cross entropy errors") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  const auto sparse = [](const Tensor& labels, const Tensor& logits) {
    return nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
  };
  const auto dense = [](const Tensor& labels, const Tensor& logits) {
    return nn::softmax_cross_entropy_with_logits(labels, logits);
  };
  CHECK_THROWS_WITH(sparse(constant({0, 2}), x), ContainsSubstring("label 2 at [1] is outside of [0, 2)"));
  CHECK_THROWS_WITH(sparse(constant({{0, 1}, {-1, 0}}), loops::random({2, 2, 3}, 1)),
                    ContainsSubstring("label -1 at [1,0] is outside of [0, 3)"));
  CHECK_THROWS_WITH(sparse(constant({0.f, 1.f}), x), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(sparse(constant({0, 1, 1}), x), ContainsSubstring("last axis"));
  CHECK_THROWS_WITH(dense(constant({1.f, 0.f}), x),
                    ContainsSubstring("shapes of labels and logits differ: float32[2] x float32[2,2]"));
  CHECK_THROWS_WITH(dense(constant({{1, 0}, {0, 1}}), x), ContainsSubstring("sparse form"));
  CHECK_THROWS_AS(nn::sigmoid_cross_entropy_with_logits(constant(1.f), x), errors::InvalidArgumentError);
}

}  // namespace cross_entropy_test
