// Module::set_trainable after a function has been traced: the next call follows it.
#include "tandem/layers/all.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats;

namespace {

struct Net : Model<Net> {
  layers::Dense first{3}, last{1};
  Tensor call(const Tensor& x) const { return last(first(x)); }
};
const Tensor x = constant({{1.f, 2.f}, {-1.f, .5f}});

struct Step {
  Net net;
  optimizers::SGD sgd{{.learning_rate = 0.1}};
  auto traced() {
    return function([this](const Tensor& batch) {
      // A loss without a minimum: each step changes all trainable weights, whatever they are.
      sgd.minimize([&] { return reduce_sum(net.call(batch)); }, net.trainable_variables());
    });
  }
  // Whether the next step changes the two kernels.
  template <class F>
  std::pair<bool, bool> changes(const F& f) {
    const Variable first_kernel = net.first.variables()[0], last_kernel = net.last.variables()[0];
    const Tensor a = first_kernel.value(), b = last_kernel.value();
    f(x);
    return {reduce_any(first_kernel.value() != a).template item<bool>(),
            reduce_any(last_kernel.value() != b).template item<bool>()};
  }
};

}  // namespace

TEST_CASE("set_trainable: a traced step follows it, and finds its earlier trace again") {
  Step step;
  step.net.call(x);
  const auto f = step.traced();
  CHECK(step.changes(f) == std::pair(true, true));
  step.net.first.set_trainable(false);
  CHECK(step.changes(f) == std::pair(false, true));
  CHECK(f.trace_count() == 2);
  CHECK_THAT(f.trace_log()[1].reason, ContainsSubstring("set_trainable"));
  for (int i = 0; i < 3; ++i) {
    step.net.first.set_trainable(true);
    CHECK(step.changes(f) == std::pair(true, true));
    step.net.first.set_trainable(false);
    CHECK(step.changes(f) == std::pair(false, true));
  }
  step.net.first.set_trainable(false);  // as it is
  CHECK(step.changes(f) == std::pair(false, true));
  CHECK(f.trace_count() == 2);
}
TEST_CASE("set_trainable: a function that a traced function calls, and one that asks for nothing") {
  Step step;
  step.net.call(x);
  const auto inner = step.traced();
  const auto outer = function([&](const Tensor& batch) { inner(batch); });
  const auto infer = function([&](const Tensor& batch) { return step.net.call(batch); });
  infer(x);
  CHECK(step.changes(outer) == std::pair(true, true));
  step.net.set_trainable(false);
  step.net.set_trainable(true);
  CHECK(step.changes(outer) == std::pair(true, true));
  CHECK(outer.trace_count() == 1);
  step.net.last.set_trainable(false);
  CHECK(step.changes(outer) == std::pair(true, false));
  const auto other = function([&](const Tensor& batch) { inner(batch); });  // it finds the inner trace made
  CHECK(step.changes(other) == std::pair(true, false));
  step.net.last.set_trainable(true);
  CHECK(step.changes(other) == std::pair(true, true));
  infer(x);
  CHECK(infer.trace_count() == 1);
}
TEST_CASE("set_trainable: the mode of batch normalization and the penalties of a traced function") {
  layers::BatchNormalization norm;
  layers::Dense dense(1, {.kernel_regularizer = regularizers::L2(1)});
  const auto f = function([&](const Tensor& t) {
    const Tensor y = dense(norm(t, {.training = true}));
    const std::vector<Tensor> penalties = dense.losses();
    return std::pair(y, penalties.empty() ? constant(0.f) : penalties[0]);
  });
  f(x);
  CHECK(f(x).second.item<float>() > 0);
  norm.set_trainable(false), dense.set_trainable(false);
  CHECK(f(x).second.item<float>() == 0);
  const Tensor kept = norm.variables()[2].value();
  f(x);
  CHECK(floats(norm.variables()[2].value()) == floats(kept));
}
TEST_CASE("set_trainable: a frozen module that ends leaves the others' traces alone") {
  Step step;
  step.net.call(x);
  const auto f = step.traced();
  f(x);
  {
    Net other;
    other.set_trainable(false);
    f(x);
    CHECK(f.trace_count() == 2);  // it may have asked for this one too
    const Net copy = other.clone();
  }
  f(x);
  CHECK(f.trace_count() == 2);
}
TEST_CASE("set_trainable: the traces of a module that is added to a frozen one") {
  struct Parent : Module {
    using Module::add_module;
  };
  const Parent parent;
  parent.set_trainable(false);
  const layers::BatchNormalization norm;
  const auto f = function([&](const Tensor& t) { return norm(t, {.training = true}); });
  f(x);
  parent.add_module("norm", norm);
  const auto kept = floats(norm.variables()[2].value());
  f(x);
  CHECK(floats(norm.variables()[2].value()) == kept);
  CHECK(f.trace_count() == 2);
}
TEST_CASE("set_trainable: a trace during which it was called is not found again") {
  const layers::BatchNormalization norm;
  norm(x, {.training = true});
  bool freezes = true;
  const auto f = function([&](const Tensor& t) {
    if (freezes) norm.set_trainable(false);  // as another thread may
    return norm(t, {.training = true});
  });
  f(x);
  freezes = false;
  norm.set_trainable(true);
  const auto before = floats(norm.variables()[2].value());
  f(x);
  CHECK(floats(norm.variables()[2].value()) != before);
  norm.set_trainable(false);
  norm.set_trainable(true);
  f(x);
  CHECK(f.trace_count() == 2);
}
