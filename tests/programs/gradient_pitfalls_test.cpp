// Traps of gradients and training.
#include <cmath>
#include <set>
#include <string>

#include "tandem/tandem.hpp"
#include "tandem/testing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace pitfalls_gradients {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::error_of;
using Floats = std::vector<float>;

TEST_CASE("cross entropies have a gradient to their labels") {
  const Tensor w = cast(constant({.5, .25, 0., -.25, -.5}), float64);
  const auto entropy = [](const Tensor& w) { return nn::softmax_cross_entropy_with_logits(nn::softmax(w), w); };
  CHECK(test::compute_gradient_error(entropy, w, {.delta = 1e-5}) < 1e-9);
  const auto cut = [](const Tensor& w) {
    return nn::softmax_cross_entropy_with_logits(stop_gradient(nn::softmax(w)), w);
  };
  CHECK(std::fabs(test::compute_gradient_error(cut, w, {.delta = 1e-5}) - 0.11727) < 1e-3);
  const auto sigmoid_form = [](const Tensor& w) { return nn::sigmoid_cross_entropy_with_logits(sigmoid(w), w); };
  CHECK(test::compute_gradient_error(sigmoid_form, w, {.delta = 1e-5}) < 1e-9);
}

constexpr OpDef my_op{.name = "my_op",
                      .infer = [](const InferCall& c) { return Specs(c.spec(0)); },
                      .cpu =
                          [](const KernelCall& c) {
                            for (i64 i = 0; i < c.in[0].size(); ++i)
                              c.out[0].as<float>()[i] = c.in[0].as<const float>()[i];
                          },
                      .dtypes = dtypes::floating};

TEST_CASE("a path that is blocked says where; gradient() raises for an op without a backward function") {
  const Tensor w = constant({1.f, 3.f, 2.f});
  GradientTape tape;
  tape.watch(w);
  const Tensor y = cast(argmax(w, 0), float32) * 2;
  const Tensor g = tape.gradient(y, w);
  CHECK(!g.is_set());
  CHECK_THAT(error_of([&] { return g + 1; }),
             ContainsSubstring("no gradient: the path from float32[3] to the target passes through the "
                               "non-differentiable op ArgMax"));
  const Variable named(w, {.name = "w"});
  GradientTape of_variable;
  const Tensor h = of_variable.gradient(cast(argmax(named, 0), float32), named);
  CHECK_THAT(error_of([&] { return h + 1; }), ContainsSubstring("from variable 'w'") && ContainsSubstring("op ArgMax"));
  const Variable other(constant(1.f)), source(w, {.name = "source"});
  GradientTape second;
  const Tensor z = reduce_sum(apply1(my_op, no_attrs, no_options, source * 2)) + other;
  CHECK_THAT(error_of([&] {
               return second.gradient(z, std::vector<Variable>{other, source});
             }),
             ContainsSubstring("MyOp has no backward") && ContainsSubstring("from variable 'source'"));
}

TEST_CASE("unset gradients pass through clipping and updates; all unset raises with the names") {
  Variable w(constant({3.f, 4.f}), {.name = "w"}), b(constant(12.f), {.name = "b"}),
      unused(constant(1.f), {.name = "u"});
  GradientTape tape;
  const Tensor loss = reduce_sum(square(w)) / 2 + square(b) / 2;
  const std::vector<Gradient> g = tape.gradient(loss, std::vector<Variable>{w, unused, b});
  const ClippedGradients clipped = clip_by_global_norm(g, 6.5);
  CHECK(clipped.norm.item<float>() == 13);
  CHECK(clipped.gradients[0].dense().to_vector<float>() == Floats{1.5f, 2});
  CHECK(!clipped.gradients[1].is_set());
  optimizers::SGD sgd(1.0);
  sgd.apply_gradients(clipped.gradients, {w, unused, b});
  CHECK(w.read_value().to_vector<float>() == Floats{1.5f, 2});
  CHECK(unused.read_value().item<float>() == 1);
  GradientTape other;
  const std::vector<Gradient> none = other.gradient(square(unused), std::vector<Variable>{w, b});
  CHECK_THAT(error_of([&] {
               sgd.apply_gradients(none, {w, b});
             }),
             ContainsSubstring("apply_gradients: no gradients for any variable: w, b"));
}

TEST_CASE("the forward value is fine, the gradient is not") {
  const Tensor x = constant({0.f, 4.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor root = reduce_sum(sqrt(x)), norm = reduce_euclidean_norm(x * 0);
  CHECK(tape.gradient(norm, x).to_vector<float>() == Floats{0, 0});
  const debugging::CheckNumericsScope trap;
  CHECK_THAT(error_of([&] { return tape.gradient(root, x); }), ContainsSubstring("in the gradient of Sqrt"));
  // G9: the unused branch of where must be finite
  GradientTape unsafe;
  unsafe.watch(x);
  CHECK_THAT(error_of([&] { return where(x > 0, log(x), zeros_like(x)); }), ContainsSubstring("Log"));
  const Tensor positive = where(x > 0, x, ones_like(x));
  const Tensor safe = reduce_sum(where(x > 0, log(positive), zeros_like(x)));
  CHECK(unsafe.gradient(safe, x).to_vector<float>() == Floats{0, .25f});
}

TEST_CASE("where with an unused log(0) branch is reported with the way out") {
  const Tensor x = constant({0.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor loss = reduce_sum(where(x > 0, log(x), zeros_like(x)));
  const debugging::CheckNumericsScope trap;
  CHECK_THAT(error_of([&] { return tape.gradient(loss, x); }),
             ContainsSubstring("in the gradient of Log") &&
                 ContainsSubstring("both branches of where are computed: make the operand safe inside it"));
}

TEST_CASE("one scope rule for ops, Variables and layers; repeated names get _1") {
  struct Single : Module {
    Variable make() const { return add_variable("c", constant(1.f)); }
  };
  std::vector<Variable> kept;
  const auto f = function([&](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 2; ++i) {
      const name_scope scope("scope");
      kept.push_back(Variable(constant(1.f), {.name = "b"}));
      kept.push_back(Single().make());
      y = add(y, kept[kept.size() - 2] + kept.back().read_value(), {.name = "a"});
    }
    return y;
  });
  std::set<std::string> names;
  const auto concrete = f.get_concrete_function(TensorSpec({}, float32));
  for (const Node& n : concrete->graph().nodes) names.insert(n.name);
  for (const char* name : {"scope/a", "scope/b", "scope/c", "scope_1/a", "scope_1/b", "scope_1/c"}) {
    CAPTURE(name);
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("equal names never share; a copy does, clone() does not") {
  layers::Dense a(2), b(2);
  const Tensor x = ones({1, 3});
  a(x), b(x);
  CHECK(!a.variables()[0].is_same(b.variables()[0]));
  layers::Dense copy = a;
  CHECK(copy.variables()[0].is_same(a.variables()[0]));
}

TEST_CASE("dropout is off in evaluation, and draws anew in training") {
  const layers::Dropout drop(0.5);
  const Tensor x = ones({1000});
  CHECK(drop(x).to_vector<float>() == Floats(1000, 1));
  CHECK(drop(x).to_vector<float>() == drop(x).to_vector<float>());
  const training_scope training(true);
  CHECK(drop(x).to_vector<float>() != drop(x).to_vector<float>());
  CHECK(random::normal({8}).to_vector<float>() != random::normal({8}).to_vector<float>());
}

TEST_CASE("batch normalization moves its averages in training calls alone, traced ones included") {
  const Tensor x = constant({{1.f}, {2.f}, {3.f}, {4.f}});
  for (const bool is_traced : {false, true}) {
    CAPTURE(is_traced);
    const layers::BatchNormalization norm({.momentum = .9});
    auto traced = function([&](const Tensor& t) { return norm(t); });
    norm(x);  // makes the weights
    const auto call = [&] { return is_traced ? traced(x) : norm(x); };
    const auto check_averages = [&] {
      CHECK(norm.variables()[2].read_value().to_vector<float>()[0] == Approx(.6775));
      CHECK(norm.variables()[3].read_value().to_vector<float>()[0] == Approx(1.06775));
    };
    {
      const training_scope training(true);
      for (int i = 0; i < 3; ++i) call();
    }
    check_averages();
    call();
    check_averages();
  }
}

TEST_CASE("two custom gradients of one kind in one trace keep their own backward functions") {
  const auto scaled = [](double factor) {
    return [factor](const Tensor& x) {
      return custom_gradient(
          [factor](const Tensor& a) { return std::pair(a * 1, [factor](const Tensor& g) { return g * factor; }); }, x);
    };
  };
  auto f = function([&](const Tensor& x) { return scaled(2)(x) + scaled(5)(x); });
  const Tensor x = constant({1.f});
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(f(x), x).to_vector<float>() == Floats{7});
}

TEST_CASE("dropout takes the share that is dropped, by name") {
  const Tensor x = ones({100000});
  const Tensor y = nn::dropout(x, {.rate = 0.1, .seed = 7, .training = true});
  const double kept = static_cast<double>(count_nonzero(y).item<i64>()) / 1e5;
  CHECK(std::fabs(kept - 0.9) < 0.01);
  CHECK(nn::dropout(x, {.rate = 0.1, .training = false}).is_same(x));
}

TEST_CASE("the gradient of a mini-batch is that of its mean") {
  const Tensor x = random::stateless_normal({100, 3}, constant({1, 2})),
               y = random::stateless_normal({100}, constant({3, 4}));
  Variable w(zeros({3}));
  GradientTape tape;
  const Tensor loss = reduce_mean(square(linalg::matvec(x, w) - y));
  const Floats got = tape.gradient(loss, w).to_vector<float>();
  const Floats xs = x.to_vector<float>(), ys = y.to_vector<float>();
  for (std::size_t j = 0; j < 3; ++j) {
    double want = 0;
    for (std::size_t i = 0; i < 100; ++i) want -= 2. * ys[i] * xs[i * 3 + j] / 100;
    CHECK(std::fabs(got[j] - want) < 1e-5);
  }
}

TEST_CASE("a gradient through 50 steps grows as the weight's power; clipping by norm bounds it") {
  const auto gradient = [](double weight) {
    const Tensor first = constant(std::vector<double>{1});
    GradientTape tape;
    tape.watch(first);
    Tensor h = first;
    for (int t = 1; t < 50; ++t) h = h * weight;
    return tape.gradient(reduce_sum(h), first);
  };
  CHECK(std::fabs(gradient(1.5).to_vector<double>()[0] / std::pow(1.5, 49) - 1) < 1e-12);
  CHECK(std::fabs(gradient(0.5).to_vector<double>()[0] / std::pow(0.5, 49) - 1) < 1e-12);
  CHECK(std::fabs(clip_by_norm(gradient(1.5), 5).to_vector<double>()[0] - 5) < 1e-12);
}

}  // namespace pitfalls_gradients
