// while_loop: eager and traced, shapes that change, gradients of both orders, effects, nesting, errors.
#include "tandem/graph/control/while_loop.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::check_close, testing::check_same_derivatives, testing::floats, testing::Floats, testing::List;

namespace {

Tensor fibonacci(const Tensor& n) {
  return std::get<2>(
      while_loop([&](const Tensor& i, const Tensor&, const Tensor&) { return i < n; },
                 [](const Tensor& i, const Tensor& a, const Tensor& b) { return std::tuple(i + 1, b, a + b); },
                 std::tuple(constant(2), constant(1), constant(1))));
}
Tensor fibonacci_list(const Tensor& n, std::vector<Shape> invariants) {
  return std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
                                [](const Tensor& i, const Tensor& list) {
                                  const Tensor last = list(Slice(-2, none));
                                  return std::tuple(i + 1, concat({list, reshape(reduce_sum(last), {1})}, 0));
                                },
                                std::tuple(constant(2), constant({1, 1})),
                                {.shape_invariants = std::move(invariants)}));
}
Tensor fibonacci_array(const Tensor& n, int most) {
  return std::get<3>(
             while_loop([&](const Tensor& i, const Tensor&, const Tensor&, const TensorArray&) { return i < n; },
                        [](const Tensor& i, const Tensor& a, const Tensor& b, const TensorArray& array) {
                          return std::tuple(i + 1, b, a + b, array.write(i, a));
                        },
                        std::tuple(constant(0), constant(1), constant(1), TensorArray(int32, most))))
      .stack();
}

}  // namespace

TEST_CASE("while_loop: Fibonacci, eager and traced") {
  CHECK(fibonacci(constant(5)).item<int>() == 5);
  const auto f = function(fibonacci);
  CHECK(f(constant(5)).item<int>() == 5);
  CHECK(f(constant(10)).item<int>() == 55);
  CHECK(f(constant(0)).item<int>() == 1);
  CHECK(f.trace_count() == 1);
}

TEST_CASE("while_loop: a list that grows needs an invariant in a trace") {
  const std::vector<int> expected{1, 1, 2, 3, 5};
  CHECK(fibonacci_list(constant(5), {}).to_vector<int>() == expected);
  CHECK(function([](const Tensor& n) {
          return fibonacci_list(n, {{}, {none}});
        })(constant(5))
            .to_vector<int>() == expected);
  CHECK_THROWS_WITH(function([](const Tensor& n) { return fibonacci_list(n, {}); })(constant(5)),
                    ContainsSubstring("loop variable 1") && ContainsSubstring("int32[2]") &&
                        ContainsSubstring("int32[3]") && ContainsSubstring("shape_invariants"));
  CHECK_THROWS_WITH(function([](const Tensor& n) { return fibonacci_list(n, {{none}}); })(constant(5)),
                    ContainsSubstring("shape invariants"));
  CHECK(fibonacci_array(constant(5), 5).to_vector<int>() == expected);
  CHECK(function([](const Tensor& n) { return fibonacci_array(n, 5); })(constant(5)).to_vector<int>() == expected);
}

TEST_CASE("while_loop: tensors, lists and structs as loop variables") {
  struct State {
    Tensor i;
    std::vector<Tensor> powers;
  };
  const auto f = [](const Tensor& x) {
    return while_loop([](const State& s) { return s.i < 4; },
                      [&](const State& s) {
                        return State{s.i + 1, {s.powers[0] * x, s.powers[1] + s.powers[0]}};
                      },
                      State{constant(0), {ones_like(x), zeros_like(x)}});
  };
  for (const State& s : {f(constant(3.f)), function(f)(constant(3.f))}) {
    CHECK(s.i.item<int>() == 4);
    CHECK(s.powers[0].item<float>() == 81);
    CHECK(s.powers[1].item<float>() == 40);
  }
  const auto halve = [](const Tensor& x) {
    return while_loop([](const Tensor& t) { return t > 1.f; }, [](const Tensor& t) { return t / 2; }, x);
  };
  CHECK(halve(constant(40.f)).item<float>() == 0.625f);
  CHECK(function(halve)(constant(40.f)).item<float>() == 0.625f);
  const auto list = [](const Tensor& x) {
    return while_loop([](const List& l) { return l[0] < 3; },
                      [](const List& l) {
                        return List{l[0] + 1, l[1] * 2};
                      },
                      {constant(0), x})[1];
  };
  CHECK(function(list)(constant(5)).item<int>() == 40);
}

TEST_CASE("while_loop: maximum_iterations") {
  const auto f = [](const Tensor& x) {
    return while_loop([](const Tensor&) { return constant(true); }, [](const Tensor& t) { return t + 1; }, x,
                      {.maximum_iterations = 7});
  };
  CHECK(f(constant(1)).item<int>() == 8);
  CHECK(function(f)(constant(1)).item<int>() == 8);
}

TEST_CASE("while_loop: gradients of both orders") {
  const auto power = [](const Tensor& x) {  // x^8 by squaring, and a sum of the steps
    const auto [i, y, sum] = while_loop(
        [](const Tensor& i, const Tensor&, const Tensor&) { return i < 3; },
        [](const Tensor& i, const Tensor& y, const Tensor& sum) { return std::tuple(i + 1, y * y, sum + sin(y)); },
        std::tuple(constant(0), x, zeros_like(x)));
    return reduce_sum(y + sum);
  };
  check_same_derivatives(power, constant({1.1f, -0.5f}));
  const auto captured = [](const Tensor& x) {
    const auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return i < 4; },
                                   [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, tanh(y * x) + x); },
                                   std::tuple(constant(0), ones_like(x)));
    return reduce_sum(y);
  };
  check_same_derivatives(captured, constant({0.7f, -0.3f, 0.2f}));
}

TEST_CASE("while_loop: a trip count that depends on data, and none at all") {
  const auto f = [](const Tensor& x) {
    return while_loop([](const Tensor& t) { return reduce_sum(t) < 100.f; }, [](const Tensor& t) { return t * t; }, x);
  };
  const auto sum = [&](const Tensor& x) { return reduce_sum(f(x)); };
  for (const float start : {1.5f, 3.f, 200.f}) check_same_derivatives(sum, constant({start, 2.f}));
}

TEST_CASE("while_loop: nested, with gradients") {
  const auto f = [](const Tensor& x) {
    return reduce_sum(std::get<1>(while_loop(
        [](const Tensor& i, const Tensor&) { return i < 3; },
        [&](const Tensor& i, const Tensor& y) {
          const auto inner =
              while_loop([&](const Tensor& j, const Tensor&) { return j < i; },
                         [&](const Tensor& j, const Tensor& z) { return std::tuple(j + 1, z * x + sin(y)); },
                         std::tuple(constant(0), y));
          const Tensor z = std::get<1>(inner);
          return std::tuple(i + 1, cond(
                                       reduce_sum(z) > 0.f, [&] { return z * 0.5f; }, [&] { return z * z; }));
        },
        std::tuple(constant(0), x))));
  };
  check_same_derivatives(f, constant({0.8f, 0.4f}));
  check_same_derivatives(f, constant({-0.8f, 0.4f}));
}

TEST_CASE("while_loop: open sizes") {
  const auto f = function(
      [](const Tensor& x) {
        const auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                       [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y * x); },
                                       std::tuple(constant(0), x));
        return reduce_sum(y, 1);
      },
      {.input_signature = {{{none, 2}, float32, {}}}});
  for (i64 n = 1; n < 4; ++n) {
    const Tensor x = ones({n, 2}) * 2;
    CHECK(floats(f(x)) == Floats(static_cast<std::size_t>(n), 32.f));
    GradientTape tape;
    tape.watch(x);
    CHECK(floats(tape.gradient(f(x), x)) == Floats(static_cast<std::size_t>(2 * n), 32.f));
  }
  CHECK(f.trace_count() == 1);
}

TEST_CASE("while_loop: a result in the buffer of a loop variable has its own shape and dtype") {
  const auto f = [](const Tensor& x, const Tensor& n) {
    const auto r = while_loop(
        [](const List& l) { return l[0] < 3; },
        [](const List& l) {
          return List{l[0] + 1, sort(l[1]), nn::gelu(reshape(l[1], {3, 2})), sort(l[3]), cast(l[3], float32)};
        },
        List{constant(0), x, zeros({3, 2}), n, zeros({2})});
    return r;
  };
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), n = constant({1, 2});
  const List got = function(f)(x, n), eager = f(x, n);
  for (std::size_t k = 1; k < eager.size(); ++k) {
    CAPTURE(k);
    CHECK(got[k].spec() == eager[k].spec());
    CHECK(floats(cast(got[k], float32)) == floats(cast(eager[k], float32)));
  }
}

TEST_CASE("while_loop: Variables read and assigned in the body") {
  const Variable w(constant(2.f)), count(constant(0), {.trainable = false});
  const auto loss = [&](const Tensor& x) {
    return std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < 3; },
                                  [&](const Tensor& i, const Tensor& y) {
                                    count.assign_add(constant(1));
                                    return std::tuple(i + 1, y * w);
                                  },
                                  std::tuple(constant(0), x)));
  };
  const auto traced = function(loss);
  const auto step = function([&](const Tensor& x) {
    GradientTape tape;
    const Tensor y = loss(x);
    return List{y, tape.gradient(y, w)};
  });
  const Tensor x = constant(5.f);
  CHECK(traced(x).item<float>() == 40);
  CHECK(count.item<int>() == 3);
  const List r = step(x);
  CHECK(r[0].item<float>() == 40);
  CHECK(r[1].item<float>() == 60);
  CHECK(count.item<int>() == 6);
  GradientTape tape;
  CHECK(tape.gradient(traced(x), w).item<float>() == 60);
  CHECK(count.item<int>() == 9);
  w.assign(constant(3.f));
  CHECK(traced(x).item<float>() == 135);
}

TEST_CASE("while_loop: training inside of a loop equals training outside") {
  const auto train = [](const Variable& w, int steps) {
    while_loop([&](const Tensor& i) { return i < steps; },
               [&](const Tensor& i) {
                 GradientTape tape;
                 const Tensor loss = reduce_sum(square(w - 3.f));
                 w.assign_sub(0.1f * tape.gradient(loss, w));
                 return i + 1;
               },
               constant(0));
  };
  const Variable a(constant({1.f, 2.f})), b(constant({1.f, 2.f}));
  train(a, 10);
  function([&] { train(b, 10); })();
  check_close(b.to_vector<float>(), a.to_vector<float>());
}

TEST_CASE("while_loop: gradients see the random numbers that the forward run drew") {
  random::Generator generator{3};
  const auto f = [&](const Tensor& x) {
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                  [&](const Tensor& i, const Tensor& y) {
                                    return std::tuple(i + 1, nn::dropout(y, {.rate = 0.5, .generator = &generator}));
                                  },
                                  std::tuple(constant(0), x)));
  };
  const auto traced = function(f);
  const Tensor x = ones({64});
  for (int k = 0; k < 3; ++k) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = traced(x);
    CHECK(floats(tape.gradient(y, x)) == floats(y));
  }
}

TEST_CASE("while_loop: a loop variable keeps its dtype and structure") {
  const auto dtype = [](const Tensor& x) {
    return while_loop([](const Tensor& t) { return reduce_all(t < 3); },
                      [](const Tensor& t) { return cast(t + 1, t.dtype() == int32 ? int64 : int32); }, x);
  };
  CHECK_THROWS_WITH(dtype(constant(0)), ContainsSubstring("loop variable 0") && ContainsSubstring("int64"));
  CHECK_THROWS_WITH(function(dtype)(constant(0)), ContainsSubstring("loop variable 0") && ContainsSubstring("int64"));
  const auto number = function([](const Tensor& x) {
    return std::get<1>(while_loop([](int i, const Tensor&) { return constant(i < 3); },
                                  [](int i, const Tensor& t) { return std::tuple(i + 1, t); }, std::tuple(0, x)));
  });
  CHECK_THROWS_WITH(number(constant(0)), ContainsSubstring("must be a tensor"));
  CHECK_THROWS_WITH(function([](const Tensor& x) {
                      return while_loop([](const Tensor& t) { return t; }, [](const Tensor& t) { return t; }, x);
                    })(constant(1)),
                    ContainsSubstring("bool"));
  CHECK(context.stager == nullptr);
}

TEST_CASE("while_loop: an error in an iteration leaves the effects before it") {
  const Variable v(constant(0));
  const auto f = function([&](const Tensor& x) {
    return while_loop([](const Tensor& i) { return i < 10; },
                      [&](const Tensor& i) {
                        v.assign_add(constant(1));
                        return i + 1 + gather(x, i) * 0;
                      },
                      constant(0));
  });
  CHECK_THROWS_AS(f(constant({1, 2, 3})), errors::InvalidArgumentError);
  CHECK(v.item<int>() == 4);
}

TEST_CASE("while_loop: the graph does not grow with the number of iterations") {
  const auto nodes = [](int n) {
    return function([&](const Tensor& x) {
             GradientTape tape;
             tape.watch(x);
             const Tensor y =
                 std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
                                        [](const Tensor& i, const Tensor& t) { return std::tuple(i + 1, sin(t)); },
                                        std::tuple(constant(0), x)));
             return tape.gradient(y, x);
           })
        .get_concrete_function(TensorSpec{{}, float32})
        ->graph()
        .nodes.size();
  };
  CHECK(nodes(3) == nodes(1000));
  CHECK(nodes(3) < 40);
}

TEST_CASE("while_loop: gradients where shapes change from iteration to iteration") {
  const auto f = [](const Tensor& x) {
    const auto [i, list] = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                      [&](const Tensor& i, const Tensor& l) {
                                        return std::tuple(i + 1, concat({l, sin(l) * x}, 0));
                                      },
                                      std::tuple(constant(0), x), {.shape_invariants = {{}, {none}}});
    return reduce_sum(list * list);
  };
  check_same_derivatives(f, constant({0.7f}));
}
