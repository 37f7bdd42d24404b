// Gradients through control flow in control flow, in gradients, and under tapes: what random programs once found.
#include <cmath>

#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::check_close, testing::floats, testing::Floats, testing::List;

TEST_CASE("control flow: a gradient draws no random numbers again, however deep they were drawn") {
  random::Generator generator{3};
  const auto f = [&](const Tensor& x) {
    const Tensor fixed = stop_gradient(x);
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                  [&](const Tensor& i, const Tensor& y) {
                                    const Tensor zero = zeros_like(fixed);
                                    foldl(
                                        [&](const Tensor& state, const Tensor&) {
                                          nn::dropout(reshape(state, {-1, 1}), {.rate = 0.5, .generator = &generator});
                                          return abs(nn::swish(zero));
                                        },
                                        constant({3}), zero);
                                    return std::tuple(i + 1, reverse(zero, {0}) + y);
                                  },
                                  std::tuple(constant(0), x), {.shape_invariants = {{}, {none}}}));
  };
  const auto drawn = [&] { return generator.state().read_value().to_vector<i64>(); };
  const auto traced = function(f);
  const Tensor x = constant({1.f, -2.f, 3.f});
  traced(x);
  const std::vector<i64> start = drawn();
  traced(x);
  const std::vector<i64> after = drawn();
  generator.state().assign(constant(start));
  GradientTape tape;
  tape.watch(x);
  const Tensor y = traced(x);
  CHECK(drawn() == after);
  CHECK(floats(tape.gradient(y, x)) == Floats{1, 1, 1});
  CHECK(drawn() == after);
}

TEST_CASE("control flow: gradients of gradients of loops, under a further tape") {
  const Variable w(constant({{0.5f, -1.f, 0.75f}, {1.25f, 0.25f, -0.5f}}));
  random::Generator generator{3};
  const auto gradient_to_w = [&](const Tensor& x) {
    const Tensor start = w.read_value();
    GradientTape tape;
    tape.watch(x);
    const Tensor states = scan(
        [&](const Tensor& s, const Tensor& row) {
          const Tensor bent = nn::gelu(reshape(s, {3, 2}));
          cond(
              reduce_sum(bent) > 0.f, [&] { return random::uniform({2}, {.generator = &generator}); },
              [&] { return reduce_max(w, {.axis = {0}})(Slice(0, 2)); });
          return nn::swish(w) * row + 0 * reshape(bent, {2, 3});
        },
        x, start);
    return reduce_sum(square(tape.gradient(reduce_sum(states * states), w)));
  };
  const Tensor x = constant({0.5f, -0.75f, 1.f});
  const auto second_order = [&](const auto& call) {
    GradientTape tape;
    return tape.gradient(call(x), w);
  };
  check_close(floats(second_order(function(gradient_to_w))), floats(second_order(gradient_to_w)));
}

TEST_CASE("control flow: a branch of open size that is not taken need not fit, in gradients of gradients either") {
  const auto f = [](const Tensor& x) {
    const Tensor open = x * broadcast_to(constant(1.f), shape(x));
    GradientTape outer;
    outer.watch(open);
    GradientTape inner;
    inner.watch(open);
    const Tensor y = cond(
        reduce_sum(open) > 0.f, [&] { return (open * 3 + 1) * open; },
        [&] {
          return constant({{0.5f, 1.f}});
        });
    const Tensor first = inner.gradient(y, open, {.unconnected_gradients = UnconnectedGradients::zero});
    return List{first, outer.gradient(first, open, {.unconnected_gradients = UnconnectedGradients::zero})};
  };
  const auto checked = function(f, {.debug = true});  // runs the graph op by op, too
  for (const float sign : {1.f, -1.f}) {
    const Tensor x = constant({{1.5f, 2.f}}) * sign;
    check_close(checked(x), f(x));
  }
}

namespace {
// Whether the graph, or one in it, has the values among its constants.
bool has_constant(const Graph& g, const Floats& values) {
  for (const Node& n : g.nodes) {
    const Tensor* t = constant_of(n);
    if (t && t->has_data() && t->dtype() == float32 && floats(*t) == values) return true;
    for (const Graph* body : subgraphs(n))
      if (has_constant(*body, values)) return true;
  }
  return false;
}
}  // namespace

TEST_CASE("control flow: the gradient of a Variable without a path is zero, not made of its value") {
  const Variable w(constant({1.f, 2.f, 3.f}));
  const auto f = function([&](const Tensor& x) {
    GradientTape around;
    around.watch(x);
    return foldl(
        [&](const Tensor& state, const Tensor& row) {
          GradientTape tape;
          tape.watch(state);
          const Tensor y = state * row;
          return state + tape.gradient(y, w, {.unconnected_gradients = UnconnectedGradients::zero});
        },
        x, zeros({3}));
  });
  CHECK(!has_constant(f.get_concrete_function(TensorSpec{{2, 3}, float32})->graph(), {1, 2, 3}));
  CHECK(floats(f(ones({2, 3}))) == Floats{0, 0, 0});
}

TEST_CASE("control flow: to what only the branch not taken reads the gradient is zeros in a trace") {
  const auto f = [](const Tensor& x) {
    const Tensor y = exp(x);
    return cond(
        reduce_sum(x) > 0.f, [&] { return x * 2; }, [&] { return y; });
  };
  const auto gradient = [](const auto& call) {
    const Tensor x = constant({1.f, 100.f});
    GradientTape tape;
    tape.watch(x);
    return floats(tape.gradient(call(x), x));
  };
  CHECK(gradient(f) == Floats{2, 2});
  const Floats traced = gradient(function(f));
  CHECK(traced[0] == 2);
  CHECK(std::isnan(traced[1]));  // 0 times e^100, which is infinite
}

TEST_CASE("cond: derivatives of both orders where the branches' results differ in size") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {.5f, -1.f, 2.f}, {3.f, 0.f, 1.f}});
  for (const bool flag : {true, false})
    for (const bool debug : {false, true}) {
      CAPTURE(flag, debug);
      const auto sum_of_cubes = [&](const Tensor& t, const Tensor& which) {
        const Tensor y = cond(
            which, [&] { return t * t * t; },
            [&] {
              return gather(exp(t), constant({1, 1}));
            });
        return reduce_sum(y * y);
      };
      // The gradient is part of the function; the outer tape is outside of it.
      const auto gradient = [&](const Tensor& t, const Tensor& which) {
        GradientTape tape;
        tape.watch(t);
        return tape.gradient(sum_of_cubes(t, which), t);
      };
      const auto second = [&](const auto& f) {
        GradientTape tape;
        tape.watch(x);
        const Tensor dx = f(x, constant(flag));
        return tape.gradient(reduce_sum(dx * dx), x);
      };
      const Tensor want = second(gradient);
      testing::check_close(floats(second(function(gradient, {.debug = debug}))), floats(want));
      const auto all = function([&](const Tensor&) { return second(gradient); }, {.debug = debug});
      testing::check_close(floats(all(x)), floats(want));
    }
}
