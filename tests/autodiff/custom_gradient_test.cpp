// custom_gradient: C++ callables as ops with a backward function of their own.
#include "tandem/autodiff/custom_gradient.hpp"

#include <algorithm>
#include <thread>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

// relu by a loop on the host.
Tensor host_relu(const Tensor& x) {
  return custom_gradient(
      [](const Tensor& t) {
        Floats v = t.to_vector<float>();
        for (float& y : v) y = std::max(y, 0.f);
        return std::pair(constant(v, {.shape = t.shape()}), [t](const Tensor& g) { return g * cast(t > 0, float32); });
      },
      x);
}
Tensor spread(int n) { return sin(range(static_cast<float>(n)) * 1.3f + 0.4f); }
}  // namespace

TEST_CASE("custom_gradient: a host loop with a backward function passes the checker") {
  const Tensor x = spread(10);
  CHECK(test::compute_gradient_error([](const Tensor& t) { return host_relu(t * t); }, x) < 1e-4);
  GradientTape tape;
  tape.watch(x);
  const Floats g = tape.gradient(host_relu(x), x).to_vector<float>(), v = x.to_vector<float>();
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(g[i] == (v[i] > 0 ? 1.f : 0.f));
}

TEST_CASE("custom_gradient: the backward function is what counts, and is called once") {
  const Tensor x = constant(3.f);
  int calls = 0;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = custom_gradient(
      [&](const Tensor& t) {
        return std::pair(t * t, [&calls](const Tensor& g) {
          ++calls;
          return g * 100;
        });
      },
      x);
  CHECK(y.item<float>() == 9);
  CHECK(calls == 0);
  CHECK(tape.gradient(2 * y, x).item<float>() == 200);
  CHECK(calls == 1);
}

TEST_CASE("custom_gradient: several inputs, of which some have no gradient") {
  const Tensor a = constant(2.f), b = constant(5.f), n = constant(7);
  GradientTape tape({.persistent = true});
  tape.watch(a), tape.watch(b);
  const Tensor y = custom_gradient(
      [](const Tensor& p, const Tensor& q, const Tensor& k) {
        return std::pair(p * q * cast(k, float32), [q](const Tensor& g) {
          return std::vector<Tensor>{g * q, Tensor(), Tensor()};
        });
      },
      a, b, n);
  CHECK(y.item<float>() == 70);
  CHECK(tape.gradient(y, a).item<float>() == 5);
  CHECK(!tape.gradient(y, b).is_set());
}

TEST_CASE("custom_gradient: the wrong number of gradients raises") {
  const Tensor a = constant(2.f), b = constant(5.f);
  const auto with = [&](std::size_t count) {
    GradientTape tape;
    tape.watch(a);
    const Tensor y = custom_gradient(
        [count](const Tensor& p, const Tensor& q) {
          return std::pair(p * q, [count](const Tensor& g) { return std::vector<Tensor>(count, g); });
        },
        a, b);
    return tape.gradient(y, a);
  };
  CHECK(with(2).item<float>() == 1);
  CHECK_THROWS_AS(with(1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(with(3), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(with(3), ContainsSubstring("custom_gradient") && ContainsSubstring("3 gradients for 2 inputs"));
}

TEST_CASE("custom_gradient: higher derivatives, where the backward function is made of ops") {
  const Tensor x = constant(2.0, {.dtype = float64});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = custom_gradient(
      [](const Tensor& t) { return std::pair(t * t * t, [t](const Tensor& g) { return g * 3 * t * t; }); }, x);
  const Tensor dy = inner.gradient(y, x);
  CHECK(dy.item<double>() == 12);
  CHECK(outer.gradient(dy, x).item<double>() == 12);
}

TEST_CASE("custom_gradient: takes Variables") {
  const Variable v(constant(3.f));
  GradientTape tape;
  const Tensor y =
      custom_gradient([](const Tensor& t) { return std::pair(t * t, [t](const Tensor& g) { return g * 2 * t; }); }, v);
  CHECK(tape.gradient(y, v).item<float>() == 6);
}

TEST_CASE("custom_gradient: an error inside leaves the tape usable") {
  const Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  CHECK_THROWS_AS(
      custom_gradient(
          [](const Tensor& t) { return std::pair(t + ones({2}) + ones({3}), [](const Tensor& g) { return g; }); }, x),
      errors::InvalidArgumentError);
  CHECK(tape.gradient(host_relu(x) * x, x).item<float>() == 6);
}

TEST_CASE("custom_gradient: two threads at once") {
  std::vector<Floats> got(2);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < 2; ++k)
    threads.emplace_back([&got, k] {
      const Tensor x = spread(50) * (k ? -1.f : 1.f);
      for (int i = 0; i < 50; ++i) {
        GradientTape tape;
        tape.watch(x);
        got[k] = tape.gradient(host_relu(x) * x, x).to_vector<float>();
      }
    });
  for (std::thread& t : threads) t.join();
  const Floats x = spread(50).to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(got[0][i] == Approx(x[i] > 0 ? 2 * x[i] : 0));
    CHECK(got[1][i] == Approx(x[i] < 0 ? -2 * x[i] : 0));
  }
}

TEST_CASE("custom_gradient: gradients of another shape or dtype than the input's raise") {
  const Tensor x = ones({2, 3}), y = ones({2, 3});
  const auto differentiate = [&](const auto& wrong) {
    GradientTape tape;
    tape.watch(x);
    const Tensor z = custom_gradient(
        [&](const Tensor& a, const Tensor& b) {
          return std::pair(a * b, [&](const Tensor& g) { return std::vector<Tensor>{wrong(g), g}; });
        },
        x, y);
    return tape.gradient(reduce_sum(z) + reduce_sum(x), x);
  };
  CHECK_THROWS_AS(differentiate([](const Tensor& g) { return reduce_sum(g); }), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(
      differentiate([](const Tensor& g) { return reduce_sum(g); }),
      ContainsSubstring("custom_gradient: the backward function gave float32[] as the gradient of input 0, "
                        "which is float32[2,3]"));
  CHECK_THROWS_WITH(differentiate([](const Tensor& g) { return cast(g, float64); }),
                    ContainsSubstring("float64[2,3] as the gradient of input 0"));
  CHECK_THROWS_WITH(differentiate([](const Tensor& g) { return stack({g, g}); }), ContainsSubstring("float32[2,2,3]"));
  CHECK(differentiate([](const Tensor& g) { return g * 3; }).to_vector<float>() == Floats(6, 4.f));
  CHECK(differentiate([](const Tensor&) { return Tensor(); }).to_vector<float>() == Floats(6, 1.f));
}

TEST_CASE("custom_gradient: in a trace open dims are compatible with any, known ones are checked") {
  const auto slope = [](const auto& wrong) {
    return function(
        [=](const Tensor& x) {
          GradientTape tape;
          tape.watch(x);
          const Tensor y = custom_gradient([&](const Tensor& a) { return std::pair(a * 2, wrong); }, x);
          return tape.gradient(y, x);
        },
        {.input_signature = {{{none, 3}, float32, {}}}});
  };
  CHECK(slope([](const Tensor& g) { return g * 5; })(ones({2, 3})).to_vector<float>() == Floats(6, 5.f));
  CHECK_THROWS_WITH(slope([](const Tensor& g) { return reduce_sum(g, 1); })(ones({2, 3})),
                    ContainsSubstring("float32[None] as the gradient of input 0, which is float32[None,3]"));
}

TEST_CASE("custom_gradient: a tape outside of the traced function calls the backward function of each call") {
  Variable scale(constant(10.f));
  auto f = function([&](const Tensor& x, const Tensor& other) {
    const Tensor twice = other * 2;
    return custom_gradient(
        [&](const Tensor& a, const Tensor& b) {
          return std::pair(a * b + 1, [=](const Tensor& g) {
            return std::vector<Tensor>{g * twice * scale, Tensor()};
          });
        },
        x * 3, other);
  });
  for (const float factor : {10.f, 20.f}) {
    scale.assign(constant(factor));
    const Tensor x = constant({1.f, 2.f}), other = constant({5.f, 7.f});
    GradientTape tape({.persistent = true});
    tape.watch(x);
    tape.watch(other);
    const Tensor y = f(x, other);
    scale.assign(constant(-1.f));  // the backward function uses the value that the forward call has read
    CHECK(y.to_vector<float>() == Floats{16, 43});
    CHECK(tape.gradient(y, x).to_vector<float>() == Floats{3 * 10 * factor, 3 * 14 * factor});
    CHECK(!tape.gradient(y, other).is_set());
  }
  CHECK(f.trace_count() == 1);
}

TEST_CASE("custom_gradient: in the branches and loops of a traced function, twice differentiated") {
  const auto cube = [](const Tensor& x) {
    return custom_gradient(
        [](const Tensor& a) { return std::pair(a * a * a, [a](const Tensor& g) { return g * 3 * a * a; }); }, x);
  };
  auto f = function([&](const Tensor& x) {
    const Tensor twice = cond(
        reduce_sum(x) > 0, [&] { return cube(x); }, [&] { return x; });
    return while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                      [&](const Tensor& i, const Tensor& t) { return std::tuple(i + 1, cube(t)); },
                      std::tuple(constant(0), twice));
  });
  const Tensor x = constant({1.f, 0.5f});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = std::get<1>(f(x));  // x^27
  const Tensor dy = inner.gradient(y, x), ddy = outer.gradient(dy, x);
  CHECK(dy.to_vector<float>()[0] == 27);
  CHECK(ddy.to_vector<float>()[0] == 27 * 26);
}

TEST_CASE("gradient: an output gradient of another dtype raises") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  CHECK_THROWS_WITH(tape.gradient(y, x, {.output_gradients = {ones({2}, {.dtype = float64})}}),
                    ContainsSubstring("output gradient float64[2] for a target of float32[2]"));
}

TEST_CASE("custom_gradient: a program that takes no gradient computes nothing for the backward function") {
  auto f = function(
      [](const Tensor& x) {
        const Tensor costly = exp(x);
        return custom_gradient(
            [&](const Tensor& t) { return std::pair(t * 2, [costly](const Tensor& g) { return g * costly; }); }, x + 1);
      },
      {.execution = {.passes = {.fuse = false}}});
  const Tensor x = constant({0.f, 0.f});
  const auto concrete = f.get_concrete_function(x);
  const auto exps = [](const Graph& g) {
    return std::count_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.op == &exp_op; });
  };
  CHECK(exps(concrete->graph()) == 1);
  CHECK(exps(concrete->optimized()) == 0);
  CHECK(f(x).to_vector<float>() == Floats{2, 2});
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(f(x), x).to_vector<float>() == Floats{1, 1});
}
