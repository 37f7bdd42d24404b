// Optimizers and averages of half-precision weights: float32's steps with the weight rounded once in each, bit by bit.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/adafactor.hpp"
#include "tandem/optim/average.hpp"
#include "tandem/optim/muon.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct Named {
  const char* name;
  Optimizer (*make)();
};
// Copies are handles to the same state, so the base class will do.
const Named all[] = {
    {"SGD", [] { return Optimizer(optimizers::SGD(.1)); }},
    {"momentum", [] { return Optimizer(optimizers::SGD(.1, .9)); }},
    {"Nesterov", [] { return Optimizer(optimizers::SGD(.1, .9, true)); }},
    {"RMSprop", [] { return Optimizer(optimizers::RMSprop(.1)); }},
    {"RMSprop, momentum", [] { return Optimizer(optimizers::RMSprop(.1, .9, .9)); }},
    {"RMSprop, centered", [] { return Optimizer(optimizers::RMSprop({.learning_rate = .1, .centered = true})); }},
    {"Adam", [] { return Optimizer(optimizers::Adam(.1)); }},
    {"Adam, amsgrad", [] { return Optimizer(optimizers::Adam({.learning_rate = .1, .amsgrad = true})); }},
    {"AdamW", [] { return Optimizer(optimizers::AdamW(.1)); }},
    {"Adamax", [] { return Optimizer(optimizers::Adamax(.1)); }},
    {"Nadam", [] { return Optimizer(optimizers::Nadam(.1)); }},
    {"Adagrad", [] { return Optimizer(optimizers::Adagrad(.1)); }},
    {"Adadelta", [] { return Optimizer(optimizers::Adadelta(1.)); }},
    {"Ftrl", [] { return Optimizer(optimizers::Ftrl(.1)); }},
    {"Lion", [] { return Optimizer(optimizers::Lion(.1)); }},
    {"ScheduleFreeAdamW", [] { return Optimizer(optimizers::ScheduleFreeAdamW(.1)); }},
    {"Adafactor", [] { return Optimizer(optimizers::Adafactor(.1)); }},
    {"Muon", [] { return Optimizer(optimizers::Muon(.1)); }},
    {"Lamb", [] { return Optimizer(optimizers::Lamb(.1)); }},
};
Tensor some(const Shape& shape, i64 seed) { return random::stateless_normal(shape, {seed, 3}); }
bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && reduce_all(cast(a, float32) == cast(b, float32)).item<bool>();
}
Gradient gradient_of(const Variable& w, const Tensor& values, bool sparse) {
  if (!sparse) return values;
  return IndexedSlices{values(Slice(0, 3)), constant({1, 3, 1}), w};
}

// Steps of an optimizer, on weights of half precision and on float32 weights that are rounded after each step.
void check_steps(const Named& optimizer, DType half, const std::vector<Shape>& shapes, bool sparse, bool traced) {
  INFO(optimizer.name << ", " << name(half) << (sparse ? ", sparse" : "") << (traced ? ", traced" : ""));
  const Optimizer narrow = optimizer.make(), wide = optimizer.make();
  std::vector<Variable> w, reference;
  for (const Shape& s : shapes) {
    w.emplace_back(cast(some(s, static_cast<i64>(w.size())), half));
    reference.emplace_back(cast(w.back(), float32));
  }
  const auto step = [&](const std::vector<Tensor>& values) {
    std::vector<Gradient> g;
    for (const Tensor& t : values) g.push_back(gradient_of(w[g.size()], t, sparse));
    narrow.apply_gradients(g, w);
  };
  const auto traced_step = function(step);
  for (i64 i = 0; i < 4; ++i) {
    std::vector<Tensor> values;
    std::vector<Gradient> exact;
    for (const Variable& v : w) {
      values.push_back(cast(some(v.shape(), 10 * i + static_cast<i64>(values.size())), half));
      exact.push_back(gradient_of(reference[exact.size()], cast(values.back(), float32), sparse));
    }
    if (traced) traced_step(values);
    else step(values);
    wide.apply_gradients(exact, reference);
    for (std::size_t k = 0; k < w.size(); ++k) {
      reference[k].assign(cast(cast(reference[k], half), float32));
      CHECK(same(w[k], cast(reference[k], half)));
    }
  }
  for (const auto& n : narrow.named_variables())
    if (n.weight.is_set()) CHECK(n.variable.dtype() == float32);
}

}  // namespace

TEST_CASE("half precision: every optimizer's steps are float32's, rounded once") {
  for (const Named& optimizer : all)
    for (const DType half : {float16, bfloat16})
      for (const bool traced : {false, true}) {
        check_steps(optimizer, half, {{5, 7}, {3}}, false, traced);
        check_steps(optimizer, half, {{5, 7}}, true, traced);
      }
}

TEST_CASE("half precision: large weights, updated together and in several tiles") {
  for (const Named& optimizer : all) check_steps(optimizer, bfloat16, {{130, 257}, {41}, {1, 9001}}, false, false);
  check_steps(all[6], float16, {{130, 257}, {41}, {1, 9001}}, false, true);
}

TEST_CASE("half precision: weight decay rounds the weight, the update again") {
  const Variable w(constant({1.f, -3.f, 5.5f}, bfloat16)), reference(constant({1.f, -3.f, 5.5f}));
  optimizers::SGD({.learning_rate = .25, .weight_decay = .125})
      .apply_gradients({Gradient(constant({1.f, 2.f, 3.f}, bfloat16))}, {w});
  const Tensor decayed = cast(cast(reference - .25f * .125f * reference, bfloat16), float32);
  CHECK(same(w, cast(decayed - .25f * constant({1.f, 2.f, 3.f}), bfloat16)));
}

TEST_CASE("half precision: a layer learns with every optimizer") {
  for (const Named& optimizer : all) {
    INFO(optimizer.name);
    if (optimizer.name == std::string("Adadelta")) continue;  // its first steps are below half a unit of bfloat16
    const layers::Dense layer(1, {.kernel_initializer = initializers::Ones(), .dtype = bfloat16});
    const Tensor x = cast(some({16, 3}, 1), bfloat16), y = reduce_sum(x, {.axis = {1}, .keepdims = true}) * 2.f;
    layer(x);
    const Optimizer o = optimizer.make();
    const auto loss = [&] { return reduce_mean(square(cast(layer(x) - y, float32))); };
    const float before = loss().item<float>();
    for (int i = 0; i < 10; ++i) o.minimize(loss, layer.trainable_variables());
    CHECK(loss().item<float>() < before);
  }
}

TEST_CASE("half precision: a multi-tensor update takes no factor, whose product would not be rounded") {
  const Tensor w = constant({1.f}, bfloat16), lr = constant(.1f), step = constant(i64{1});
  const auto updated = [&](std::initializer_list<Tensor> in) {
    const std::vector<Variable> v{Variable(w), Variable(w)};
    std::vector<Tensor> extra(in);
    std::vector<const Tensor*> inputs;
    for (const Tensor& t : extra) inputs.push_back(&t);
    update(*sgd_update_op.rare.multi_tensor, v, inputs, rules::SgdAttrs{0, false});
    return v[1].value();
  };
  CHECK(same(updated({w, w, lr, step}), constant({.9f}, bfloat16)));
  CHECK_THROWS_AS(updated({w, w, constant(.5f, bfloat16), lr, step}), errors::InvalidArgumentError);
  // A slot of the weight's own dtype has too few digits.
  const std::vector<Variable> v{Variable(w), Variable(w)};
  const Tensor* const extra[] = {&w, &lr, &step};
  CHECK_THROWS_AS(update(momentum_update_op, v, extra, rules::SgdAttrs{.9, false}), errors::InvalidArgumentError);
}

TEST_CASE("half precision: averages are float32, and come back rounded once") {
  for (const DType half : {float16, bfloat16}) {
    const Variable w(constant({1.f, 2.f}, half)), reference(constant({1.f, 2.f}));
    const ExponentialMovingAverage ema(.9), wide(.9);
    for (const float x : {1.f, 3.f, 7.f}) {
      w.assign(constant({x, -x}, half)), reference.assign(constant({x, -x}));
      ema.apply({w}), wide.apply({reference});
    }
    CHECK(same(ema.average(w), wide.average(reference)));
    {
      const auto scope = ema.swap_in();
      CHECK(same(w, cast(wide.average(reference), half)));
    }
    CHECK(same(w, constant({7.f, -7.f}, half)));
    ema.assign_averages();
    CHECK(same(w, cast(wide.average(reference), half)));
    const auto f = function([&] { ema.apply({w}); });
    f();
    CHECK(ema.average(w).dtype() == float32);
  }
}

TEST_CASE("half precision: clipping by a norm that the dtype cannot hold") {
  for (const DType half : {float16, bfloat16})
    for (const bool joint : {false, true})
      for (const bool traced : {false, true}) {
        CAPTURE(name(half), joint, traced);
        const Variable w(zeros({1000}, half)), other(zeros({2}));
        const optimizers::SGD sgd(joint ? optimizers::SGDOptions{.learning_rate = 1., .global_clipnorm = 1000.}
                                        : optimizers::SGDOptions{.learning_rate = 1., .clipnorm = 1000.});
        const auto step = [&] {
          sgd.apply_gradients({Gradient(cast(fill({1000}, 3000.f), half)), Gradient(zeros({2}))}, {w, other});
        };
        if (traced) function(step)();
        else step();
        CHECK(cast(w, float32).to_vector<float>()[5] == Approx(-1000 / std::sqrt(1000.)).epsilon(.005));
      }
}
