// Programs with known numbers: weights that are shared, scopes, running totals, a linear fit, a chain differentiated by
// hand.
#include <cmath>

#include "tandem/graph/trace/trace.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace features_programs {

using namespace tandem;
using testing::distance, testing::wave;
using List = std::vector<Tensor>;

// max(x w + b, threshold), with the threshold by argument, by capture or as a layer that is passed on.
struct Relu : layers::Layer {
  Variable w, b;
  Relu() : Layer("relu"), w(add_variable("w", wave({3, 1}))), b(add_variable("b", zeros({1}))) {}
  Tensor operator()(const Tensor& x, const Tensor& threshold) const { return maximum(matmul(x, w) + b, threshold); }
};
struct Threshold : layers::Layer {
  Threshold() : Layer("threshold") {}
  Tensor operator()(const Tensor& x) const {
    return run_with_weights(
        [&] {
          return Weights{{"threshold", {}, initializers::Constant(0.25)}};
        },
        [&](const Tensors& w) { return maximum(x, w[0]); });
  }
};

TEST_CASE("one Conv2D on two images, and two of them") {
  const Tensor a = wave({1, 5, 5, 2}), b = wave({1, 5, 5, 2}, 1);
  const layers::Conv2D one(32, 3), other(32, 3);
  const auto gradients = [&](const layers::Conv2D& f, const layers::Conv2D& g, const layers::Conv2D& of) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(f(a))) + reduce_sum(square(g(b)));
    List r;
    for (const Gradient& each : tape.gradient(loss, of.variables())) r.push_back(each.tensor());
    return r;
  };
  one(a), other(b);
  CHECK(one.variables().size() == 2);
  CHECK(distance(one.variables()[0], other.variables()[0]) > 1e-2);
  other.set_weights(one.get_weights());
  const List shared = gradients(one, one, one), first = gradients(one, other, one),
             second = gradients(one, other, other);
  for (std::size_t i = 0; i < 2; ++i) CHECK(distance(shared[i], first[i] + second[i]) < 1e-5);
}
TEST_CASE("five relus share one threshold: by argument, by capture and by a layer") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {-1.f, -2.f, -3.f}});
  const std::vector<Relu> relus(5);
  // Each of the same five results, with the gradient of the threshold: as often as it was the larger one.
  const auto check = [&](const std::vector<Variable>& thresholds, const auto& results) {
    REQUIRE(thresholds.size() == 1);
    GradientTape tape;
    const Tensor sum = add_n(results());
    REQUIRE(sum.shape() == Shape{2, 1});
    const Tensor gradient = tape.gradient(reduce_sum(sum), thresholds[0]);
    const Tensor below = matmul(x, relus[0].w) + relus[0].b < 0.25f;
    CHECK(gradient.item<float>() == 5 * reduce_sum(cast(below, float32)).item<float>());
    CHECK(gradient.item<float>() > 0);
  };
  for (const Relu& r : relus) r.set_weights(relus[0].get_weights());
  const Variable threshold(constant(0.25f), {.name = "threshold"});
  check({threshold}, [&] {  // by argument
    List r;
    for (const Relu& relu : relus) r.push_back(relu(x, threshold));
    return r;
  });
  const auto captured = [&](const Relu& relu) { return relu(x, threshold); };
  check({threshold}, [&] {
    List r;
    for (const Relu& relu : relus) r.push_back(captured(relu));
    return r;
  });
  const Threshold layer, second;
  const auto call = [&] {
    List r;
    for (const Relu& relu : relus) r.push_back(layer(matmul(x, relu.w) + relu.b));
    return r;
  };
  call();
  check(layer.variables(), call);
  second(x);  // a variable of the same name, but another one
  CHECK(second.variables()[0].name() == layer.variables()[0].name());
  CHECK_FALSE(second.variables()[0].is_same(layer.variables()[0]));
}

TEST_CASE("sums and quotients in scopes, which name the graph's nodes") {
  const auto three = [](i64 i) { return constant(static_cast<float>(i)); };
  {
    const auto product = [&](const char* name, i64 a, i64 b, i64 c) {
      const name_scope scope(name);
      return (three(a) + three(b)) * three(c);
    };
    CHECK((product("first", 1, 2, 3) + product("second", 4, 5, 6)).item<float>() == 63);
  }
  const auto program = [](const Tensor& p, const Tensor& q) {
    const name_scope outer("Transformation");
    const Tensor c3 = constant(3.f, {.name = "three"});
    List r;
    {
      const name_scope scope("A");
      r.push_back(p * c3 - p);
    }
    {
      const name_scope scope("B");
      r.push_back(q * c3 - q);
    }
    {
      const name_scope scope("C");
      r.push_back(r[0] / r[1] + c3);
    }
    {
      const name_scope scope("D");
      r.push_back(r[1] / r[0] + c3);
    }
    r.push_back(maximum(r[2], r[3]));
    return r;
  };
  const auto values = [](const List& list) {
    std::vector<float> r;
    for (const Tensor& t : list) r.push_back(t.item<float>());
    return r;
  };
  const Tensor p = constant(2.f), q = constant(4.f);
  CHECK(values(program(p, q)) == std::vector<float>{4, 8, 3.5, 5, 5});
  CHECK(values(function(program)(p, q)) == std::vector<float>{4, 8, 3.5, 5, 5});
  Tracer tracer("f");
  const Tensor a = tracer.argument({{}, float32, {}}, "p"), b = tracer.argument({{}, float32, {}}, "q");
  const Ref<Graph> graph = tracer.finish(program(a, b));
  std::vector<std::string> names;
  for (const Node& n : graph->nodes) names.push_back(n.name);
  CHECK(names == std::vector<std::string>{"p", "q", "Transformation/three", "Transformation/A/Multiply",
                                          "Transformation/A/Subtract", "Transformation/B/Multiply",
                                          "Transformation/B/Subtract", "Transformation/C/Divide",
                                          "Transformation/C/Add", "Transformation/D/Divide", "Transformation/D/Add",
                                          "Transformation/Maximum"});
}

TEST_CASE("running totals of vectors of any length, in one trace") {
  const Variable total(constant(0)), step(constant(0));
  const auto update = function(
      [&](const Tensor& x) {
        const Tensor output = reduce_prod(x) + reduce_sum(x);
        const Tensor sum = total.assign_add(output), count = step.assign_add(constant(1));
        return List{output, sum, cast(sum, float32) / cast(count, float32)};
      },
      {.input_signature = {TensorSpec({none}, int32)}});
  const std::vector<std::vector<int>> inputs{{2, 8}, {3, 1, 3, 3}, {8},    {1, 2, 3}, {11, 4},
                                             {4, 1}, {7, 3, 1},    {6, 3}, {0, 2},    {4, 5, 6}};
  const std::vector<int> outputs{26, 37, 16, 12, 59, 9, 32, 27, 2, 135},
      totals{26, 63, 79, 91, 150, 159, 191, 218, 220, 355};
  const std::vector<double> averages{26, 31.5, 26.3333, 22.75, 30, 26.5, 27.2857, 27.25, 24.4444, 35.5};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const List r = update(constant(inputs[i]));
    CHECK(r[0].item<int>() == outputs[i]);
    CHECK(r[1].item<int>() == totals[i]);
    CHECK(r[2].item<float>() == Approx(averages[i]).margin(1e-4));
  }
  CHECK(update.trace_count() == 1);
  CHECK(total.value().item<int>() == 355);
}

TEST_CASE("blood fat by weight and age, gradient descent on the sum of squares") {
  const std::vector<float> weight{84, 73, 65, 70, 76, 69, 63, 72, 79, 75, 27, 89, 65,
                                  57, 59, 69, 60, 79, 75, 82, 59, 67, 85, 55, 63},
      age{46, 20, 52, 30, 57, 25, 28, 36, 57, 44, 24, 31, 52, 23, 60, 48, 34, 51, 50, 34, 46, 23, 37, 40, 30},
      fat{354, 190, 405, 263, 451, 302, 288, 385, 402, 365, 209, 290, 346,
          254, 395, 434, 220, 374, 308, 220, 311, 181, 274, 303, 244};
  const Tensor x = stack({constant(weight), constant(age)}, 1), y = expand_dims(constant(fat), 1);
  const auto fit = [&](double lr, int steps, bool bias = true) {
    const Variable w(zeros({2, 1})), b(zeros({1}));
    const optimizers::SGD sgd(lr);
    const auto infer = [&](const Tensor& of) { return matmul(of, w) + b; };
    const std::vector<Variable> weights = bias ? std::vector<Variable>{w, b} : std::vector<Variable>{w};
    const auto step =
        function([&] { return sgd.minimize([&] { return reduce_sum(squared_difference(y, infer(x))); }, weights); });
    for (int i = 0; i < steps; ++i) step();
    CHECK(w.to_vector<float>()[0] > 0);  // fat rises with weight
    return infer(constant({{80.f, 25.f}, {65.f, 25.f}})).to_vector<float>();
  };
  const auto check = [](const std::vector<float>& got, double first, double second) {
    CHECK(got[0] == Approx(first).margin(.1));
    CHECK(got[1] == Approx(second).margin(.1));
  };
  check(fit(1e-7, 98), 303.0, 255.9);
  check(fit(1e-6, 100), 286.7, 249.6);
  check(fit(1e-6, 1000), 244.5, 224.9);
  const auto limit = fit(1e-6, 5000, false);
  CHECK(limit[0] == Approx(244.29).margin(.1));
  CHECK(limit[1] == Approx(224.71).margin(.1));
}

TEST_CASE("backpropagation by hand through a chain of sigmoids") {
  const double x = 1, t = 1;
  const Variable w1(constant(.5, float64)), w2(constant(.5, float64)), w3(constant(.5, float64));
  const auto s = [](double z) { return 1 / (1 + std::exp(-z)); };
  const double l1 = s(.5 * x), l2 = s(.5 * l1), p = s(.5 * l2), d3 = p - t, d2 = d3 * .5 * l2 * (1 - l2),
               d1 = d2 * .5 * l1 * (1 - l1);
  const auto loss = [&] {
    const Tensor chain = sigmoid(w3 * sigmoid(w2 * sigmoid(w1 * x)));
    return -(t * log(chain) + (1 - t) * log(1 - chain));
  };
  for (const bool traced : {false, true}) {
    const auto run = [&] {
      GradientTape tape;
      const Tensor y = loss();
      List r{y};
      for (const Gradient& g : tape.gradient(y, std::vector<Variable>{w3, w2, w1})) r.push_back(g.tensor());
      return r;
    };
    const List got = traced ? function(run)() : run();
    const std::vector<double> by_hand{-std::log(p), d3 * l2, d2 * l1, d1 * x},
        known{.5592256, -.2472365, -.0325345, -.0061415};
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(got[i].item<double>() == Approx(by_hand[i]).epsilon(1e-12));
      CHECK(got[i].item<double>() == Approx(known[i]).margin(1e-6));
    }
  }
}
}  // namespace features_programs
