// An optimizer's slots: made as a whole or not at all; row-sparse gradients of x[i]; many Variables.
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

void step(const Optimizer& optimizer, const Variable& w) {
  GradientTape tape;
  const Tensor loss = reduce_sum(square(w));
  optimizer.apply_gradients(tape.gradient(loss, std::vector<Variable>{w}), {w});
}
// The first use in a later trace, which may not make Variables; then what the error advises.
template <class Make>
void check_usable_after_failure(const Make& make, const Tensor& initial) {
  const Variable w(initial, {.name = "w"}), v(initial);
  const auto optimizer = make(), untouched = make();
  const std::size_t before = optimizer.variables().size();
  const auto f = function([&](const Tensor& x, bool train) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(w - x));
    if (train) optimizer.apply_gradients(tape.gradient(loss, std::vector<Variable>{w}), {w});
    return loss;
  });
  const Tensor x = zeros_like(initial);
  f(x, false);
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(f(x, true), errors::FailedPreconditionError);
    CHECK(optimizer.variables().size() == before);
  }
  optimizer.build({w});
  f(x, true);
  step(optimizer, w);
  for (int i = 0; i < 2; ++i) step(untouched, v);
  CHECK(w.to_vector<float>() == v.to_vector<float>());
}

}  // namespace

TEST_CASE("optimizers: usable after their slots could not be made") {
  for (const Tensor& initial : {constant(3.f), constant({1.f, -2.f})}) {
    check_usable_after_failure([] { return optimizers::Adam({.learning_rate = .1}); }, initial);
    check_usable_after_failure([] { return optimizers::SGD({.learning_rate = .1, .momentum = .9}); }, initial);
    check_usable_after_failure([] { return optimizers::RMSprop({.momentum = .5, .centered = true}); }, initial);
  }
}

TEST_CASE("optimizers: slots that memory does not allow leave nothing behind") {
  const Variable w(ones({1 << 20}));
  const Gradient g(ones({1 << 20}));
  const optimizers::Adam adam;
  memory::set_limit(memory::info().live + (6 << 20));  // enough for one slot of two
  CHECK_THROWS_AS(adam.build({w}), errors::ResourceExhaustedError);
  CHECK_THROWS_AS(adam.apply_gradients({g}, {w}), errors::ResourceExhaustedError);
  memory::set_limit(0);
  CHECK(adam.variables().size() == 2);
  CHECK(adam.iterations().item<i64>() == 0);
  adam.build({w});
  CHECK(adam.variables().size() == 4);
}

TEST_CASE("update: as many variables as the op has new values") {
  const Variable w(constant(1.f)), m(constant(0.f));
  const Tensor g = constant(1.f), lr = constant(.1f), at = constant(i64{1});
  const Tensor* const extra[] = {&g, &lr, &at};
  const Variable both[] = {w, m};
  const rules::SgdAttrs attrs{.5, false};
  CHECK_THROWS_AS(update(momentum_update_op, {both, 1}, extra, attrs), errors::InvalidArgumentError);
  CHECK_THROWS_AS(update(sgd_update_op, both, extra, attrs), errors::InvalidArgumentError);
  const auto traced = function([&] { update(momentum_update_op, {both, 1}, extra, attrs); });
  CHECK_THROWS_AS(traced(), errors::InvalidArgumentError);
  CHECK(w.item<float>() == 1);
  update(momentum_update_op, both, extra, attrs);
  CHECK(w.item<float>() == 1 - .1f);
}

TEST_CASE("optimizers: the gradient of w[i] changes row i alone") {
  const Variable w(ones({4, 2}));
  const optimizers::Adam adam({.learning_rate = .1});
  GradientTape tape;
  const Tensor loss = reduce_sum(square(w.read_value()[2]));
  const std::vector<Gradient> g = tape.gradient(loss, std::vector<Variable>{w});
  REQUIRE(g[0].is_sparse());
  CHECK(global_norm(g).item<float>() == Approx(std::sqrt(8.f)));
  adam.apply_gradients(clip_by_global_norm(g, 1).gradients, {w});
  const std::vector<float> after = w.to_vector<float>();
  for (std::size_t i = 0; i < 8; ++i) CHECK((after[i] != 1) == (i / 2 == 2));
  // Where all rows occur, the numbers are those of the dense gradient.
  const Variable a(ones({3, 2})), b(ones({3, 2}));
  const optimizers::Adam rows({.learning_rate = .1}), whole({.learning_rate = .1});
  for (int k = 0; k < 3; ++k) {
    GradientTape by_rows, at_once;
    const Tensor x = reduce_sum(square(a.read_value()[0])) + reduce_sum(square(a.read_value()[1])) +
                     reduce_sum(square(a.read_value()[2]));
    rows.apply_gradients(by_rows.gradient(x, std::vector<Variable>{a}), {a});
    const Tensor y = reduce_sum(square(b));
    whole.apply_gradients(at_once.gradient(y, std::vector<Variable>{b}), {b});
  }
  CHECK(a.to_vector<float>() == b.to_vector<float>());
}
