// Gradients that are sums over hundreds of thousands of steps: their error relative to float64 does not grow with the
// number of steps, in loops, on the tape and for the biases of recurrent ops.
#include <cmath>
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
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

namespace {

// The gradient of f(w, c) to w, where c has the factors by which each of `steps` steps adds it.
template <class F>
Tensor gradient_of(const F& f, const Tensor& w) {
  const auto traced = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return cast(tape.gradient(f(x), x), x.dtype() == complex64 ? complex128 : float64);
  });
  return traced(w);
}
double largest_error(const Tensor& is, const Tensor& exact) {
  return reduce_max(abs(is / exact - cast(constant(1.), exact.dtype()))).item<double>();
}
constexpr i64 many_steps = 40'000;
template <class F>
Tensor looped(const F& term, const Tensor& start) {
  return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < static_cast<int>(many_steps); },
                                [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + term()); },
                                std::tuple(constant(0), start)));
}

}  // namespace

TEST_CASE("long gradient sums: large tensors that loops capture") {
  constexpr i64 n = 4100;
  const Tensor factors = random::stateless_uniform({n}, {1, 2});
  const Tensor exact = cast(factors, float64) * static_cast<double>(many_steps);
  const auto dense = [&](const Tensor& w) {
    return looped([&] { return reduce_sum(w * cast(factors, w.dtype())); }, zeros({}, {.dtype = w.dtype()}));
  };
  CHECK(largest_error(gradient_of(dense, ones({n})), exact) <= bound);
  const Tensor w = zeros({n}, {.dtype = complex64});
  const auto of_complex = [&](const Tensor& x) {
    return looped([&] { return reduce_sum(real(x) * factors + imag(x)); }, constant(0.f));
  };
  const Tensor both = complex(exact, ones({n}, {.dtype = float64}) * static_cast<double>(many_steps));
  CHECK(largest_error(gradient_of(of_complex, w), both) <= bound);
}
TEST_CASE("long gradient sums: large half-precision tensors that loops capture are added in float32") {
  constexpr i64 n = 4100;
  const Tensor factors = cast(random::stateless_uniform({n}, {1, 2}), bfloat16);
  const auto f = [&](const Tensor& w) {
    return looped([&] { return reduce_sum(cast(w * factors, float32)); }, constant(0.f));
  };
  const Tensor exact = cast(factors, float64) * static_cast<double>(many_steps);
  CHECK(largest_error(gradient_of(f, ones({n}, {.dtype = bfloat16})), exact) <= 1. / 256);
}
TEST_CASE("long gradient sums: large Variables that loops read") {
  constexpr i64 n = 4100;
  const Variable v(ones({n}));
  const Tensor factors = random::stateless_uniform({n}, {1, 2});
  const auto f = function([&] {
    GradientTape tape;
    const Tensor y = looped([&] { return reduce_sum(v * factors); }, constant(0.f));
    return cast(tape.gradient(y, v), float64);
  });
  CHECK(largest_error(f(), cast(factors, float64) * static_cast<double>(many_steps)) <= bound);
  // A loop that is called on a tape, and not traced with it.
  GradientTape tape;
  const Tensor y = looped([&] { return reduce_sum(v * factors); }, constant(0.f));
  CHECK(largest_error(cast(tape.gradient(y, v), float64), cast(factors, float64) * static_cast<double>(many_steps)) <=
        bound);
}
TEST_CASE("long gradient sums: rows that loops gather from large tables") {
  constexpr i64 turns = 13'333;
  const Tensor table = ones({2100, 2}), picks = floormod(range(3 * turns), 3) * 700;
  for (const DType d : {float32, bfloat16}) {
    const auto f = [&](const Tensor& t) {
      return reduce_sum(
          map_fn([&](const Tensor& i) { return reduce_sum(cast(gather(t, reshape(i, {1})), float32) * 0.1f); }, picks));
    };
    const Tensor g = gradient_of(f, cast(table, d));
    const double tenths = static_cast<double>(0.1f) * static_cast<double>(turns);
    const Tensor used = gather(g, constant({0, 700, 1400}));
    CHECK(reduce_max(abs(used / tenths - 1.)).item<double>() <= (d == float32 ? bound : 1. / 128));
    CHECK(reduce_sum(g).item<double>() == reduce_sum(used).item<double>());
  }
}
TEST_CASE("long gradient sums: infinity and NaN stay what they are") {
  constexpr i64 n = 4100;
  std::vector<float> v(n, 1);
  v[7] = std::numeric_limits<float>::infinity(), v[8] = -v[7], v[9] = std::nanf(""), v[10] = 3e38f;
  const Tensor factors = constant(v);
  const auto g =
      gradient_of([&](const Tensor& w) { return looped([&] { return reduce_sum(w * factors); }, constant(0.f)); },
                  zeros({n}))
          .to_vector<double>();
  CHECK(g[7] == std::numeric_limits<double>::infinity());
  CHECK(g[8] == -g[7]);
  CHECK(std::isnan(g[9]));
  CHECK(g[10] == g[7]);
  CHECK(g[11] == static_cast<double>(many_steps));
}
TEST_CASE("long gradient sums: few steps have the bits of a plain sum") {
  constexpr i64 n = 4100;
  const Tensor factors = random::stateless_uniform({n}, {1, 2});
  for (const int steps_now : {1, 2, 63, 64}) {
    const auto f = [&](const Tensor& w) {
      return std::get<1>(
          while_loop([&](const Tensor& i, const Tensor&) { return i < steps_now; },
                     [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + reduce_sum(w * factors)); },
                     std::tuple(constant(0), constant(0.f))));
    };
    Tensor plain = zeros({n});
    for (int i = 0; i < steps_now; ++i) plain = plain + factors;
    CHECK(gradient_of(f, ones({n})).to_vector<double>() == cast(plain, float64).to_vector<double>());
  }
}
TEST_CASE("long gradient sums: second gradients through blocks") {
  constexpr i64 n = 4100, steps_now = 150;
  const Tensor w = random::stateless_uniform({n}, {1, 2}) + 0.5f, rows = random::stateless_uniform({steps_now}, {3, 4});
  // The sum of r w^3 over the steps: the second gradient is the sum of 6 r w. So it is with rows of a table.
  for (const bool gathers : {false, true}) {
    const auto f = function([&](const Tensor& x) {
      GradientTape outer;
      outer.watch(x);
      Tensor g;
      {
        GradientTape inner;
        inner.watch(x);
        const Tensor y = reduce_sum(map_fn(
            [&](const Tensor& r) {
              const Tensor z = gathers ? reshape(gather(reshape(x, {n / 2, 2}), range(n / 2)), {n}) : x;
              return reduce_sum(z * z * z * r);
            },
            rows));
        g = inner.gradient(y, x);
      }
      return outer.gradient(reduce_sum(g), x);
    });
    const Tensor exact = cast(w, float64) * 6. * reduce_sum(cast(rows, float64));
    CHECK(largest_error(cast(f(w), float64), exact) <= bound);
  }
}
TEST_CASE("long gradient sums: a loop holds one more tensor for each large sum") {
  const Tensor w = ones({1000, 1000}), x = ones({1, 1000});
  const auto peak = [&](int steps_now) {
    const auto f = function([&](const Tensor& a) {
      GradientTape tape;
      tape.watch(a);
      const Tensor y = std::get<1>(
          while_loop([&](const Tensor& i, const Tensor&) { return i < steps_now; },
                     [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + reduce_sum(matmul(x, a))); },
                     std::tuple(constant(0), constant(0.f))));
      return tape.gradient(y, a);
    });
    f(w);
    memory::reset_peak();
    const std::int64_t before = memory::info().live;
    f(w);
    return memory::info().peak - before;
  };
  const std::int64_t one_block = peak(60), blocks = peak(300);
  CAPTURE(one_block, blocks);
  CHECK(blocks - one_block <= 4'000'000 + 256 * 1024);
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
TEST_CASE("long gradient sums: one row that is read again and again on the tape") {
  const Tensor w = ones({3, 2}), tenths = constant(0.1f);
  GradientTape tape({.persistent = true});
  tape.watch(w);
  std::vector<Tensor> terms;
  for (i64 i = 0; i < steps; ++i) terms.push_back(w[1] * tenths);
  const Tensor y = reduce_sum(add_n(terms));
  for (int again = 0; again < 2; ++again) {
    const std::vector<double> g = cast(tape.gradient(y, w), float64).to_vector<double>();
    CHECK(std::abs(g[2] / tenth - 1) <= bound);
    CHECK(g[2] == g[3]);
    CHECK(g[0] == 0);
  }
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
