// Gradients that are sums over hundreds of thousands of steps: their error relative to float64 does not grow with the
// number of steps, in loops, on the tape and for the biases of recurrent ops.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

constexpr i64 steps = 300'000;
constexpr double bound = 4e-6;

// The gradient of f's result to a scalar 1 that f captures, relative to the exact one.
template <class F>
double error_of(const F& f, double exact, DType dtype = float32) {
  const Tensor w = ones({}, {.dtype = dtype});
  const auto traced = function([&](const Tensor& x) { return f(x); });
  GradientTape tape;
  tape.watch(w);
  const Tensor y = traced(w);
  return std::abs(cast(tape.gradient(y, w), float64).item<double>() / exact - 1);
}
const double tenth = static_cast<double>(0.1f) * static_cast<double>(steps);

}  // namespace

TEST_CASE("long gradient sums: what loops capture") {
  const Tensor rows = zeros({steps}) + 0.1f;
  CHECK(error_of([&](const Tensor& w) { return reduce_sum(map_fn([&](const Tensor& r) { return w * r; }, rows)); },
                 tenth) <= bound);
  CHECK(error_of(
            [&](const Tensor& w) {
              return foldl([&](const Tensor& s, const Tensor& r) { return s + w * r; }, rows, constant(0.f));
            },
            tenth) <= bound);
  CHECK(error_of(
            [&](const Tensor& w) {
              return std::get<1>(
                  while_loop([](const Tensor& i, const Tensor&) { return i < static_cast<int>(steps); },
                             [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + w * 0.1f); },
                             std::tuple(constant(0), constant(0.f))));
            },
            tenth) <= bound);
}
TEST_CASE("long gradient sums: few steps of half precision") {
  // 256 + 1 is 256 in bfloat16.
  const Tensor rows = ones({400}, {.dtype = bfloat16});
  CHECK(error_of([&](const Tensor& w) { return reduce_sum(map_fn([&](const Tensor& r) { return w * r; }, rows)); }, 400,
                 bfloat16) <= 1. / 256);
}
TEST_CASE("long gradient sums: rows that loops gather") {
  const Tensor table = ones({2, 1}), picks = floormod(range(steps), 2);
  GradientTape tape;
  tape.watch(table);
  const auto f = function([&](const Tensor& t) {
    return reduce_sum(map_fn([&](const Tensor& i) { return gather(t, reshape(i, {1})) * 0.1f; }, picks));
  });
  const Tensor y = f(table), g = cast(tape.gradient(y, table), float64);
  CHECK(reduce_max(abs(g / (tenth / 2) - 1.)).item<double>() <= bound);
}
TEST_CASE("long gradient sums: one tensor that is read again and again on the tape") {
  const Tensor w = ones({}), tenths = constant(0.1f);
  GradientTape tape({.persistent = true});
  tape.watch(w);
  std::vector<Tensor> terms;
  for (i64 i = 0; i < steps; ++i) terms.push_back(w * tenths);
  const Tensor y = add_n(terms);
  for (int again = 0; again < 2; ++again)
    CHECK(std::abs(cast(tape.gradient(y, w), float64).item<double>() / tenth - 1) <= bound);
}
TEST_CASE("long gradient sums: few reads are added in their order") {
  const Tensor w = ones({}), big = constant(1e8f), one = constant(1.f);
  for (const int reads : {2, 63, 64, 65, 66, 129, 200}) {
    GradientTape tape;
    tape.watch(w);
    std::vector<Tensor> terms;
    for (int i = 0; i < reads; ++i) terms.push_back(w * one);
    CHECK(tape.gradient(add_n(terms), w).item<float>() == static_cast<float>(reads));
  }
  GradientTape tape;
  tape.watch(w);
  const Tensor y = w * big + w * one - w * big;
  CHECK(tape.gradient(y, w).item<float>() == 0);
}
TEST_CASE("long gradient sums: biases of recurrent ops") {
  constexpr i64 units = 2;
  const auto gradients = [&](DType dtype, bool gru) {
    const auto weights = [&](const Shape& s, i64 seed) {
      return cast(random::stateless_normal(Dims(s), {1, seed}) * 0.3f, dtype);
    };
    const i64 gates = gru ? 3 : 4;
    const Tensor x = cast(random::stateless_normal({steps, 1, 1}, {3, 4}), dtype), zero = zeros({1, units}, dtype);
    const Tensor kernel = weights({1, gates * units}, 5), recurrent = weights({units, gates * units}, 6);
    const Tensor bias = gru ? weights({2, gates * units}, 7) : weights({gates * units}, 7);
    GradientTape tape;
    tape.watch(bias);
    const Tensor y = gru ? nn::gru(x, zero, kernel, recurrent, bias).output
                         : nn::lstm(x, {zero, zero}, kernel, recurrent, bias).output;
    return cast(tape.gradient(reduce_sum(y), bias), float64);
  };
  for (const bool gru : {false, true}) {
    INFO((gru ? "GRU" : "LSTM"));
    const Tensor exact = gradients(float64, gru);
    CHECK(reduce_max(abs(gradients(float32, gru) / exact - 1.)).item<double>() <= bound);
  }
}
