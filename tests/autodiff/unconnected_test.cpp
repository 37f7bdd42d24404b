// Sources that no gradient reaches: unset with a reason, zero, or an error.
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
// The reason that an unset gradient gives when it is used.
std::string reason(const Tensor& g) {
  REQUIRE(!g.is_set());
  try {
    (void)(g + 1);
  } catch (const errors::FailedPreconditionError& e) {
    return e.what();
  }
  return "none";
}
}  // namespace

TEST_CASE("unconnected: a source that is used nowhere") {
  const Tensor x = constant(3.f), w = ones({2, 3});
  GradientTape tape({.persistent = true});
  tape.watch(x), tape.watch(w);
  const Tensor y = x * x, beside = w * 2;
  CHECK_THAT(reason(tape.gradient(y, w)), ContainsSubstring("no path from float32[2,3] to the target"));
  CHECK_THAT(reason(tape.gradient(y, beside)), ContainsSubstring("no path"));
  CHECK_THAT(reason(tape.gradient(beside, x)), ContainsSubstring("no path"));
  CHECK_THAT(reason(tape.gradient(constant(1.f), x)), ContainsSubstring("no path"));
}

TEST_CASE("unconnected: a source that was not watched") {
  const Tensor x = constant(3.f), w = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  CHECK_THAT(reason(tape.gradient(x * w, w)), ContainsSubstring("no path"));
}

TEST_CASE("unconnected: blocked ops are named, the first on the way from the source") {
  const Tensor x = constant({{1.f, 2.f}, {4.f, 3.f}});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  CHECK_THAT(reason(tape.gradient(argmax(x, 1), x)), ContainsSubstring("non-differentiable op ArgMax"));
  const Tensor right = cast(equal(argmax(x * x, 1), constant({i64{0}, i64{1}}, {.dtype = int64})), float32);
  CHECK_THAT(reason(tape.gradient(reduce_mean(right), x)), ContainsSubstring("non-differentiable op ArgMax"));
  CHECK_THAT(reason(tape.gradient(cast(x, int32), x)), ContainsSubstring("non-differentiable op Cast"));
  CHECK_THAT(reason(tape.gradient(stop_gradient(x), x)), ContainsSubstring("non-differentiable op StopGradient"));
  CHECK_THAT(reason(tape.gradient(floor(x), x)), ContainsSubstring("non-differentiable op Floor"));
}

TEST_CASE("unconnected: a way around the blocked op is found") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(floor(x) * x, x).to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("unconnected: zeros or an error on demand") {
  const Tensor x = constant(3.f), w = ones({2, 3}, {.dtype = float64});
  GradientTape tape({.persistent = true});
  tape.watch(x), tape.watch(w);
  const Tensor y = x * x;
  const Tensor zero = tape.gradient(y, w, {.unconnected_gradients = UnconnectedGradients::zero});
  CHECK(zero.spec() == w.spec());
  CHECK(zero.to_vector<double>() == std::vector<double>(6));
  CHECK_THROWS_AS(tape.gradient(y, w, {.unconnected_gradients = UnconnectedGradients::error}),
                  errors::InvalidArgumentError);
  CHECK_THROWS_WITH(tape.gradient(y, w, {.unconnected_gradients = UnconnectedGradients::error}),
                    ContainsSubstring("no path"));
  CHECK(tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::error}).item<float>() == 6);
}

TEST_CASE("unconnected: variables are named") {
  const Variable used(constant(1.f), {.name = "used"}), idle(constant(1.f), {.name = "idle"});
  GradientTape tape({.persistent = true});
  const Tensor y = used * 2;
  CHECK_THAT(reason(tape.gradient(y, idle)), ContainsSubstring("no path from variable 'idle'"));
  const Tensor blocked = sign(used);
  CHECK_THAT(reason(tape.gradient(blocked, used)),
             ContainsSubstring("variable 'used'") && ContainsSubstring("non-differentiable op Sign"));
  const std::vector<Gradient> g = tape.gradient(y, std::vector<Variable>{used, idle});
  CHECK(g[0].is_set());
  CHECK(!g[1].is_set());
  const Gradient zero =
      tape.gradient(y, std::vector<Variable>{idle}, {.unconnected_gradients = UnconnectedGradients::zero})[0];
  CHECK(Tensor(zero).item<float>() == 0);
}

TEST_CASE("unconnected: the reason says what the tape has not seen") {
  const Variable w(1.f, {.name = "w"}), fixed(1.f, {.name = "fixed", .trainable = false});
  const Tensor before = w * 2, x = constant(3.f);
  GradientTape tape({.persistent = true});
  CHECK_THAT(reason(tape.gradient(before, w)), ContainsSubstring("the tape has not seen it read"));
  const Tensor y = w * fixed * x, read_only = w.value();
  CHECK_THAT(reason(tape.gradient(y, fixed)), ContainsSubstring("it is not trainable"));
  CHECK_THAT(reason(tape.gradient(y, x)), ContainsSubstring("the tape does not watch it; call watch()"));
  CHECK_THAT(reason(tape.gradient(before, w)), ContainsSubstring("which the tape has not recorded as computed from"));
  tape.watch(fixed);
  CHECK_THAT(reason(tape.gradient(y, fixed)), ContainsSubstring("it has not been read since watch()"));
  GradientTape blind({.persistent = true, .watch_accessed_variables = false});
  CHECK_THAT(reason(blind.gradient(w * 2, w)), ContainsSubstring(".watch_accessed_variables = false"));
  CHECK_THAT(reason(tape.gradient(y, constant(1))), ContainsSubstring("its dtype has no gradient"));
}

TEST_CASE("unconnected: the Jacobian of an unwatched source is unset, with the reason") {
  const Tensor a = constant({1.f, 2.f}), b = constant({3.f, 4.f}), idle = constant({5.f, 6.f});
  GradientTape tape({.persistent = true});
  tape.watch(b), tape.watch(idle);
  const Tensor y = a * b;
  CHECK_THAT(reason(tape.jacobian(y, a)), ContainsSubstring("the tape does not watch it"));
  CHECK_THAT(reason(tape.batch_jacobian(y, a)), ContainsSubstring("the tape does not watch it"));
  const Variable unread(1.f, {.name = "unread"});
  CHECK_THAT(reason(tape.jacobian(y, unread)), ContainsSubstring("variable 'unread'"));
  CHECK(tape.jacobian(y, b).to_vector<float>() == std::vector<float>{1, 0, 0, 2});
  CHECK(tape.jacobian(y, idle).to_vector<float>() == std::vector<float>(4));  // watched: no element depends on it
}

TEST_CASE("unconnected: an unset gradient never acts as 0") {
  const Tensor x = constant(3.f), w = constant(1.f);
  GradientTape tape;
  tape.watch(x), tape.watch(w);
  const Tensor g = tape.gradient(x * x, w);
  CHECK_THROWS_AS(g.shape(), errors::FailedPreconditionError);
  CHECK_THROWS_AS(g.item<float>(), errors::FailedPreconditionError);
  CHECK_THROWS_AS(x - g, errors::FailedPreconditionError);
  CHECK_THROWS_AS(concat({x, g}, 0), errors::FailedPreconditionError);
}

TEST_CASE("tape: integers computed from a watched tensor have no gradient, whatever reads them") {
  const Tensor x = constant({1.5f}), k = constant({1, 2, 3});
  const auto gradient_of = [&](const auto& f) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = x * 2;
    return tape.gradient({y, f()}, x);
  };
  const std::vector<float> of_y{2};
  CHECK(gradient_of([&] { return cast(x, int32) * k; }).to_vector<float>() == of_y);
  CHECK(gradient_of([&] { return broadcast_to(cast(x, int32), {3}); }).to_vector<float>() == of_y);
  CHECK(gradient_of([&] { return where(k > 1, cast(x, int32), k); }).to_vector<float>() == of_y);
  CHECK(gradient_of([&] { return expand_dims(argmax(x, 0), 0) * cast(k, int64); }).to_vector<float>() == of_y);

  GradientTape tape;
  tape.watch(x);
  CHECK_FALSE(tape.gradient(cast(x, int32) * k, x).is_set());
}
TEST_CASE("custom_gradient: an integer input that is computed from a watched tensor") {
  const Tensor x = constant({1.5f}), k = constant({1, 2, 3});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = custom_gradient(
      [](const Tensor& a, const Tensor& i) {
        return std::pair(a * cast(i, float32), [i](const Tensor& g) {
          return std::vector<Tensor>{reduce_sum(g * cast(i, float32), 0, {.keepdims = true}), zeros_like(i)};
        });
      },
      x, cast(x, int32) + k);
  CHECK(tape.gradient(y, x).to_vector<float>() == std::vector<float>{9});
}
