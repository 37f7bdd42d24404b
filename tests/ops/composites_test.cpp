// Composites of namespace nn, of several families: information measures, weighted and masked moments, bias, crelu,
// last_relevant, in_top_k, log_poisson_loss.
#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"

namespace composites_test {
using namespace tandem;
using loops::numbers;
constexpr double e_number = 2.71828182845904523536;
const float inf = std::numeric_limits<float>::infinity();
using Floats = std::vector<float>;

template <class F>
double gradient_error(const F& f, const std::vector<Tensor>& x) {
  return test::compute_gradient_error(f, x, {.delta = 1e-5});
}
template <class F>
double second_error(const F& f, const std::vector<Tensor>& x) {
  const auto slope = [&](const std::vector<Tensor>& at) {
    GradientTape tape;
    for (const Tensor& t : at) tape.watch(t);
    Tensor sum = zeros({}, {.dtype = float64});
    for (const Tensor& g : tape.gradient(reduce_sum(f(at)), at)) sum = sum + reduce_sum(g * g);
    return sum;
  };
  return test::compute_gradient_error(slope, x, {.delta = 1e-5});
}

TEST_CASE("entropy and cross entropy of distributions") {
  const Tensor hello = constant({.2f, .2f, .2f, .4f});
  CHECK(nn::entropy(hello).item<float>() == Approx(1.92193));
  CHECK(nn::entropy(hello, {.base = e_number}).item<float>() == Approx(1.92193 * std::log(2.)));
  CHECK(nn::cross_entropy(hello, constant({1 / 256.f, 1 / 256.f, 1 / 256.f, 1 / 256.f})).item<float>() == Approx(8));
  CHECK(nn::entropy(constant({{1.f, 0.f}, {.5f, .5f}})).to_vector<float>() == Floats{0, 1});
  CHECK(nn::entropy(constant({{1.f, .5f}, {0.f, .5f}}), {.axis = 0}).to_vector<float>() == Floats{0, 1});
  CHECK(nn::cross_entropy(constant({1.f, 0.f}), constant({.5f, 0.f})).item<float>() == 1);
  const Tensor p = loops::positive({2, 3}, 1, float64), q = loops::positive({2, 3}, 2, float64);
  const auto f = [](const std::vector<Tensor>& x) { return nn::entropy(x[0]) + nn::cross_entropy(x[0], x[1]); };
  CHECK(gradient_error(f, {p, q}) < 1e-6);
  CHECK(second_error(f, {p, q}) < 1e-2);  // of numbers near 1e4
  for (const double base : {0., -1., 1., double(inf)})
    CHECK_THROWS_WITH(nn::entropy(hello, {.base = base}),
                      ContainsSubstring("entropy: the base must be positive and not 1"));
}

TEST_CASE("softmax_entropy, with masked logits") {
  CHECK(nn::softmax_entropy(zeros({5})).item<float>() == Approx(1.6094379));
  const Tensor masked = constant({0.f, -inf, 0.f, 1000.f, 1000.f});
  CHECK(nn::softmax_entropy(masked).item<float>() == Approx(std::log(2.)));
  GradientTape tape;
  tape.watch(masked);
  for (const float g : tape.gradient(nn::softmax_entropy(masked), masked).to_vector<float>()) CHECK(g == 0);
  const Tensor x = loops::random({3, 4}, 1, float64);
  const auto f = [](const std::vector<Tensor>& t) { return nn::softmax_entropy(t[0], 0); };
  CHECK(gradient_error(f, {x}) < 1e-8);
  CHECK(second_error(f, {x}) < 1e-7);
  // Against the definition.
  const auto p = numbers(nn::softmax(x)), h = numbers(nn::softmax_entropy(x));
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 4; ++j) sum -= p[4 * i + j] * std::log(p[4 * i + j]);
    CHECK(h[i] == Approx(sum).epsilon(1e-12));
  }
}

TEST_CASE("gaussian_kl of examples and against integration") {
  const auto one = [](double m, double l) {
    return nn::Gaussian{constant(m, {.dtype = float64}), constant(l, {.dtype = float64})};
  };
  const auto kl = [](const nn::Gaussian& q, const nn::Gaussian& p = {}) {
    return nn::gaussian_kl(q, p).item<double>();
  };
  CHECK(kl(one(1, 0)) == Approx(.5));
  CHECK(kl(one(0, std::log(4.))) == Approx(.8068528));
  CHECK(kl(one(1, .5)) == Approx(.5743606));
  CHECK(kl(one(.3, -.7), one(.3, -.7)) == 0);
  const double mq = .4, lq = -.5, mp = -.2, lp = .6;
  double integral = 0;
  for (double x = -12; x < 12; x += 1e-3) {
    const double q = -.5 * (lq + (x - mq) * (x - mq) / std::exp(lq)),
                 p = -.5 * (lp + (x - mp) * (x - mp) / std::exp(lp));
    integral += std::exp(q) / std::sqrt(2 * 3.14159265358979) * (q - p) * 1e-3;
  }
  CHECK(kl(one(mq, lq), one(mp, lp)) == Approx(integral).epsilon(1e-4));
  const Tensor m = loops::random({2, 3}, 1, float64);
  CHECK(nn::gaussian_kl({m, m}).shape() == Shape{2});
  CHECK(nn::gaussian_kl({m}).shape() == Shape{2});
  const auto f = [](const std::vector<Tensor>& x) { return nn::gaussian_kl({x[0], x[1]}, {x[2], x[3]}); };
  const std::vector<Tensor> x{m, loops::random({2, 3}, 2, float64), loops::random({3}, 3, float64),
                              loops::random({2, 3}, 4, float64)};
  CHECK(gradient_error(f, x) < 1e-6);
  CHECK(second_error(f, x) < 1e-2);  // of numbers near 1e4
  CHECK_THROWS_WITH(nn::gaussian_kl({}), ContainsSubstring("gaussian_kl: needs a mean"));
}

TEST_CASE("perplexity is in units of symbols") {
  for (const double n : {2., 10., 83.}) {
    const Tensor log_p = fill({7}, float(-std::log(n)));
    CHECK(nn::perplexity(log_p).item<float>() == Approx(n).epsilon(1e-5));
  }
  CHECK(nn::perplexity(zeros({3})).item<float>() == 1);
  CHECK(nn::perplexity(constant({-inf})).item<float>() == Approx(1e10).epsilon(1e-4));
  const Tensor log_p = constant({{-1.f, -50.f}, {-2.f, -inf}});
  CHECK(nn::perplexity(log_p, constant({{true, false}, {true, false}})).item<float>() == Approx(std::exp(1.5)));
  CHECK(nn::perplexity(log_p, constant({1.f, 0.f})).item<float>() == Approx(std::exp(1.5)));
  CHECK(nn::perplexity(log_p, constant(false)).item<float>() == 1);
  GradientTape tape;
  tape.watch(log_p);
  CHECK(!tape.gradient(nn::perplexity(log_p), log_p).is_set());
}

TEST_CASE("masked_mean counts what the mask keeps") {
  const float nan = std::nanf("");
  const Tensor x = constant({{1.f, 2.f, nan}, {4.f, 5.f, 6.f}});
  const Tensor mask = constant({{true, true, false}, {false, false, false}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::masked_mean(x, mask, 1);
  CHECK(y.to_vector<float>() == Floats{1.5f, 0});
  CHECK(tape.gradient(y, x).to_vector<float>() == Floats{.5f, .5f, 0, 0, 0, 0});
  CHECK(nn::masked_mean(x, mask).item<float>() == 1.5f);
  CHECK(nn::masked_mean(x, constant({1.f, 0.f, 0.f}), -1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK(nn::masked_mean(x, constant({1.f, 0.f, 0.f}), {.axis = 0}).to_vector<float>() == Floats{2.5f, 0, 0});
  const Tensor z = loops::random({2, 3}, 1, float64);
  CHECK(second_error([&](const std::vector<Tensor>& t) { return square(nn::masked_mean(t[0], mask, 1)); }, {z}) < 1e-7);
  CHECK_THROWS_AS(nn::masked_mean(x, constant({true, false})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::masked_mean(constant({1, 2}), constant({true, true})), errors::UnimplementedError);
  const Tensor half = cast(fill({70000}, 3.f), float16);  // neither sum nor number fit into float16
  CHECK(cast(nn::masked_mean(half, constant(true)), float32).item<float>() == 3);
}

TEST_CASE("moments from weights and from sufficient statistics") {
  const Tensor x = loops::random({4, 3}, 1, float64), w = loops::positive({4, 1}, 2, float64);
  const auto v = numbers(x), u = numbers(w);
  const auto weighted = nn::weighted_moments(x, 0, w), kept = nn::weighted_moments(x, 0, w, {.keepdims = true});
  CHECK(kept.mean.shape() == Shape{1, 3});
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, mean = 0, square = 0;
    for (std::size_t r = 0; r < 4; ++r) sum += u[r], mean += u[r] * v[3 * r + c];
    mean /= sum;
    for (std::size_t r = 0; r < 4; ++r) square += u[r] * (v[3 * r + c] - mean) * (v[3 * r + c] - mean) / sum;
    CHECK(numbers(weighted.mean)[c] == Approx(mean).epsilon(1e-12));
    CHECK(numbers(weighted.variance)[c] == Approx(square).epsilon(1e-12));
    CHECK(numbers(kept.variance)[c] == Approx(square).epsilon(1e-12));
  }
  const auto wide = nn::weighted_moments(constant({1.f, 3.f}), 0, constant({{1.f, 3.f}, {1.f, 1.f}}));
  CHECK(wide.mean.to_vector<float>() == Floats{1, 3});
  CHECK(nn::weighted_moments(constant({1.f, 3.f}), 1, constant({{1.f, 3.f}, {1.f, 1.f}})).mean.to_vector<float>() ==
        Floats{2.5f, 2});
  const Tensor half = constant({300.f, 400.f}, {.dtype = float16});  // squares overflow
  CHECK(numbers(cast(nn::weighted_moments(half, 0, half).variance, float32))[0] == Approx(2449).epsilon(1e-3));
  const auto f = [](const std::vector<Tensor>& t) {
    const auto m = nn::weighted_moments(t[0], 0, t[1]);
    return m.mean * m.variance;
  };
  CHECK(gradient_error(f, {x, w}) < 1e-6);
  const auto exact = nn::moments(x, {0, 1});
  for (const Tensor& shift : {Tensor(), constant(.75, {.dtype = float64})}) {
    const auto s = nn::sufficient_statistics(x, {0, 1}, {.shift = shift});
    CHECK(s.count.item<double>() == 12);
    CHECK(s.shift.is_set() == shift.is_set());
    const auto m = nn::normalize_moments(s.count, s.mean_ss, s.variance_ss, s.shift);
    CHECK(m.mean.item<double>() == Approx(exact.mean.item<double>()).epsilon(1e-12));
    CHECK(m.variance.item<double>() == Approx(exact.variance.item<double>()).epsilon(1e-12));
  }
  CHECK(nn::sufficient_statistics(x, 1, {.keepdims = true}).mean_ss.shape() == Shape{4, 1});
}

TEST_CASE("bias_add adds to the channels, and only to as many as there are") {
  const Tensor x = zeros({2, 3, 2}), last = constant({1.f, 2.f}), first = constant({1.f, 2.f, 3.f});
  CHECK(nn::bias_add(x, last)[0].to_vector<float>() == Floats{1, 2, 1, 2, 1, 2});
  CHECK(nn::bias_add(x, first, {.data_format = DataFormat::nchw})[1].to_vector<float>() == Floats{1, 1, 2, 2, 3, 3});
  CHECK(nn::bias_add(constant({{1, 2}}), constant({3, 4})).to_vector<int>() == std::vector<int>{4, 6});
  const Tensor z = loops::random({2, 3, 2}, 1, float64), b = loops::random({3}, 2, float64);
  const auto f = [](const std::vector<Tensor>& t) {
    return square(nn::bias_add(t[0], t[1], {.data_format = DataFormat::nchw}));
  };
  CHECK(gradient_error(f, {z, b}) < 1e-7);
  for (const Tensor& wrong : {constant({1.f}), constant(1.f), constant({{1.f, 2.f}})})
    CHECK_THROWS_WITH(nn::bias_add(x, wrong), ContainsSubstring("bias_add: needs an input of rank 2 or more and a bias "
                                                                "for each channel: float32[2,3,2] x "));
}

TEST_CASE("bias_add checks channels that are known when a traced function runs") {
  for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
    const auto f =
        function([&](const Tensor& x, const Tensor& bias) { return nn::bias_add(x, bias, {.data_format = format}); },
                 {.input_signature = {TensorSpec{{none, none}, float32}, TensorSpec{{none}, float32}}});
    CHECK(f(zeros({1, 2}), constant({1.f, 2.f})).to_vector<float>() == Floats{1, 2});
    CHECK_THROWS_AS(f(zeros({2, 1}), ones({5})), errors::InvalidArgumentError);
    CHECK_THROWS_AS(f(zeros({2, 5}), ones({1})), errors::InvalidArgumentError);
  }
}

TEST_CASE("crelu keeps both signs") {
  CHECK(nn::crelu(constant({{-1.f, 2.f}})).to_vector<float>() == Floats{0, 2, 1, 0});
  CHECK(nn::crelu(constant({{-1, 2}}), {.axis = 0}).shape() == Shape{2, 2});
  const Tensor x = loops::random({2, 3}, 1, float64) + 0.013;
  CHECK(gradient_error([](const std::vector<Tensor>& t) { return square(nn::crelu(t[0])); }, {x}) < 1e-7);
}

TEST_CASE("last_relevant reads the last step of each sequence") {
  const Tensor x = reshape(range(12.f), {3, 2, 2});
  for (const DType index : {int32, int64}) {
    const Tensor lengths = constant({2, 0, 1}, {.dtype = index});
    CHECK(nn::last_relevant(x, lengths).to_vector<float>() == Floats{2, 3, 0, 0, 8, 9});
  }
  CHECK(nn::last_relevant(constant({{1, 2}, {3, 4}}), constant({1, 2})).to_vector<int>() == std::vector<int>{1, 4});
  GradientTape tape;
  tape.watch(x);
  const Tensor g = tape.gradient(nn::last_relevant(x, constant({2, 0, 1})), x);
  CHECK(g.to_vector<float>() == Floats{0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0});
  CHECK_THROWS_WITH(
      nn::last_relevant(x, constant({3, 0, 1})),
      ContainsSubstring("last_relevant: lengths must be in [0, time]: ") && ContainsSubstring("3 against 2"));
  CHECK_THROWS_WITH(nn::last_relevant(x, constant({0, -7, 1})),
                    ContainsSubstring("last_relevant: lengths must be in [0, time]: ") && ContainsSubstring("-7"));
  CHECK(nn::last_relevant(zeros({2, 0, 3}), constant({0, 0})).to_vector<float>() == Floats(6));
  const auto f = function([](const Tensor& y, const Tensor& n) { return nn::last_relevant(y, n); },
                          {.input_signature = {TensorSpec{{none, none, 2}, float32}, TensorSpec{{none}, int32}}});
  CHECK(f(x, constant({2, 0, 1})).to_vector<float>() == Floats{2, 3, 0, 0, 8, 9});
  CHECK(f(zeros({2, 0, 2}), constant({0, 0})).to_vector<float>() == Floats(4));
  CHECK_THROWS_AS(f(x, constant({3, 0, 1})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(nn::last_relevant(x, constant({1.f})), ContainsSubstring("last_relevant: needs outputs"));
}

TEST_CASE("in_top_k counts ties in, and out of range out") {
  const Tensor p = constant({{.1f, .5f, .4f}, {.3f, .3f, .4f}, {.2f, .2f, .6f}, {1.f, inf, 0.f}, {0.f, 1.f, 2.f}});
  const auto hits = [&](i64 k, const std::vector<int>& targets) {
    std::vector<int> r;
    for (const bool b : nn::in_top_k(constant(targets), p, k).to_vector<bool>()) r.push_back(b);
    return r;
  };
  CHECK(hits(1, {1, 2, 0, 0, 2}) == std::vector<int>{1, 1, 0, 0, 1});
  CHECK(hits(2, {2, 0, 1, 1, 0}) == std::vector<int>{1, 1, 1, 0, 0});
  CHECK(hits(3, {-1, 3, 2, 2, 0}) == std::vector<int>{0, 0, 1, 0, 1});
  CHECK(hits(0, {1, 2, 2, 0, 2}) == std::vector<int>{0, 0, 0, 0, 0});
  CHECK_THROWS_WITH(nn::in_top_k(constant({1.f}), p, 1), ContainsSubstring("in_top_k: needs integer targets [batch]"));
}

TEST_CASE("log_poisson_loss with and without Stirling's term") {
  const Tensor t = constant({0., 1., 3.}, {.dtype = float64}), x = constant({.5, -1., 1.}, {.dtype = float64});
  const auto plain = numbers(nn::log_poisson_loss(t, x)),
             full = numbers(nn::log_poisson_loss(t, x, {.compute_full_loss = true}));
  CHECK(plain[0] == Approx(std::exp(.5)));
  CHECK(plain[2] == Approx(std::exp(1.) - 3));
  CHECK(full[0] == plain[0]);
  CHECK(full[1] == plain[1]);
  CHECK(full[2] == Approx(plain[2] + 3 * std::log(3.) - 3 + .5 * std::log(6 * 3.14159265358979)));
  CHECK(full[2] - plain[2] == Approx(std::log(6.)).margin(.03));  // log 3!
  const auto f = [](const std::vector<Tensor>& v) {
    return nn::log_poisson_loss(v[0], v[1], {.compute_full_loss = true});
  };
  CHECK(gradient_error(f, {constant({.5, 2.5}, {.dtype = float64}), constant({.5, -1.}, {.dtype = float64})}) < 1e-7);
  CHECK_THROWS_WITH(nn::log_poisson_loss(t, constant({1.f})), ContainsSubstring("log_poisson_loss: shapes"));
}

TEST_CASE("composites take unknown dimensions") {
  const auto f = function(
      [](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        const Tensor mask = greater(x, constant(0.f));
        const auto s = nn::sufficient_statistics(x, 0);
        const Tensor y = reduce_sum(nn::softmax_entropy(x)) + nn::masked_mean(x, mask) +
                         reduce_sum(nn::weighted_moments(x, 0, square(x)).variance) +
                         reduce_sum(nn::normalize_moments(s.count, s.mean_ss, s.variance_ss, {}).variance) +
                         reduce_sum(square(nn::crelu(x))) + reduce_sum(nn::gaussian_kl({x, x}));
        return std::vector<Tensor>{y, tape.gradient(y, x)};
      },
      {.input_signature = {TensorSpec{{none, none}, float32}}});
  const Tensor x = loops::random({3, 4}, 5);
  const auto got = f(x), again = f(loops::random({5, 2}, 6));
  CHECK(got[1].shape() == x.shape());
  CHECK(again[1].shape() == Shape{5, 2});
  const auto eager = [](const Tensor& x) {
    const auto s = nn::sufficient_statistics(x, 0);
    return reduce_sum(nn::softmax_entropy(x)) + nn::masked_mean(x, greater(x, constant(0.f))) +
           reduce_sum(nn::weighted_moments(x, 0, square(x)).variance) +
           reduce_sum(nn::normalize_moments(s.count, s.mean_ss, s.variance_ss, {}).variance) +
           reduce_sum(square(nn::crelu(x))) + reduce_sum(nn::gaussian_kl({x, x}));
  };
  CHECK(got[0].item<float>() == Approx(eager(x).item<float>()).epsilon(1e-5));
}

}  // namespace composites_test
