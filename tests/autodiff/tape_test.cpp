// GradientTape: what is recorded, what comes back, nesting, persistence, pausing, errors.
// Not here: unset gradients (unconnected_test.cpp), Variables and sparse gradients (variable_test.cpp), rules of ops.
#include "tandem/autodiff/tape.hpp"

#include <complex>
#include <memory>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/debug/op_counts.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

Tensor scalar(double x) { return constant(x, {.dtype = float64}); }
double number(const Tensor& t) { return t.item<double>(); }
}  // namespace

TEST_CASE("tape: a function of two tensors") {
  const Tensor x = scalar(3), y = scalar(4);
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor f = x * x * y + y + 2;
  const std::vector<Tensor> g = tape.gradient(f, {x, y});
  CHECK(number(f) == 42);
  CHECK(number(g[0]) == 24);
  CHECK(number(g[1]) == 10);
}

TEST_CASE("tape: gradients of several uses add up") {
  const Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  CHECK(number(tape.gradient(x * x + x * x, x)) == 12);
  const Tensor y = x + x;
  CHECK(number(tape.gradient(y + y + x, x)) == 5);
  CHECK(number(tape.gradient(x, x)) == 1);
  CHECK(number(tape.gradient({x * x, 3 * x}, x)) == 9);
  const Tensor twice = x * x;
  CHECK(number(tape.gradient({twice, twice}, x)) == 12);
}

TEST_CASE("tape: gradients take their source's shape through broadcasting") {
  const Tensor m = ones({2, 3}), row = ones({3}), one = constant(2.f);
  GradientTape tape;
  tape.watch(m), tape.watch(row), tape.watch(one);
  const std::vector<Tensor> g = tape.gradient(m * row * one + row, {m, row, one});
  CHECK(g[0].shape() == Shape{2, 3});
  CHECK(g[1].to_vector<float>() == Floats{6, 6, 6});
  CHECK(g[2].item<float>() == 6);
}

TEST_CASE("tape: a middle value can be a source") {
  const Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x, z = y * y;
  const std::vector<Tensor> g = tape.gradient(z, {x, y});
  CHECK(number(g[0]) == 108);
  CHECK(number(g[1]) == 18);
}

TEST_CASE("tape: cross entropy at large logits") {
  const Tensor labels = constant({.5, .5}), logits = constant({1000., 0.});
  GradientTape tape;
  tape.watch(logits);
  const Tensor loss = nn::softmax_cross_entropy_with_logits(labels, logits);
  CHECK(loss.item<float>() == 500);
  CHECK(tape.gradient(loss, logits).to_vector<float>() == Floats{.5f, -.5f});
}

TEST_CASE("tape: one gradient call, unless persistent") {
  const Tensor x = scalar(3);
  GradientTape once, often({.persistent = true});
  once.watch(x);
  often.watch(x);
  const Tensor y = x * x, z = y * x;
  CHECK(number(once.gradient(z, x)) == 27);
  CHECK_THROWS_AS(once.gradient(z, x), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(once.gradient(z, x), ContainsSubstring(".persistent = true"));
  for (int i = 0; i < 3; ++i) {
    CHECK(number(often.gradient(z, x)) == 27);
    CHECK(number(often.gradient(y, x)) == 6);
  }
}

TEST_CASE("tape: a persistent tape records its own gradients") {
  const Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x * x * x, g = tape.gradient(y, x), gg = tape.gradient(g, x), ggg = tape.gradient(gg, x);
  CHECK(number(g) == 108);
  CHECK(number(gg) == 108);
  CHECK(number(ggg) == 72);
  CHECK(number(tape.gradient(g * x + gg, x)) == 108 + 3 * 108 + 72);  // and what is computed from them
  CHECK(number(tape.gradient(y, x)) == 108);                          // the first is unchanged
  // Variables: reads by the calls of gradient() count for later ones alone.
  const Variable w(scalar(2));
  GradientTape second({.persistent = true});
  const Tensor loss = w * w * w, dw = second.gradient(loss, w);
  CHECK(number(dw) == 12);
  CHECK(number(second.gradient(dw, w)) == 12);
  const Tensor s = custom_gradient(
      [&](const Tensor& t) {
        return std::pair(t * t, [&w, t](const Tensor& up) { return up * w * t; });  // reads the Variable
      },
      w.value());
  const Tensor ds = second.gradient(s, w);
  CHECK(number(ds) == 4);
  CHECK(number(second.gradient(ds, w)) == 4);
}
TEST_CASE("tape: a paused persistent tape does not record its gradients, nor those of jacobian()") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = reduce_sum(x * x * x);
  const auto count = [&] {
    int n = 0;
    for (const TapeMemory& m : tape.memory()) n += m.count;
    return n;
  };
  const int before = count();
  {
    const auto pause = tape.stop_recording();
    const Tensor g = tape.gradient(y, x);
    CHECK(g.to_vector<float>() == std::vector<float>{3, 12});
    CHECK(count() == before);
    CHECK(!tape.gradient(g, x).is_set());
  }
  const Tensor g = tape.gradient(y, x);
  const int with_gradient = count();
  CHECK(with_gradient > before);
  CHECK(tape.jacobian(g, x).to_vector<float>() == std::vector<float>{6, 0, 0, 12});
  CHECK(count() == with_gradient);
  const Tensor z = reduce_sum(x * x * x);  // it goes on after that
  CHECK(tape.gradient(z, x).to_vector<float>() == std::vector<float>{3, 12});
}
TEST_CASE("tape: one persistent tape gives the second derivatives of traced functions and Variables") {
  const Variable w(constant({1.f, -2.f}));
  const auto f = function([&](const Tensor& t) { return reduce_sum(t * w * w * w); });
  GradientTape tape({.persistent = true});
  const Tensor y = f(constant({1.f, 3.f})), g = tape.gradient(y, w);
  CHECK(tape.gradient(g, w).to_vector<float>() == std::vector<float>{6, -36});
  const auto inside = function([&](const Tensor& x) {
    GradientTape own({.persistent = true});
    own.watch(x);
    const Tensor first = own.gradient(x * x * x, x);
    return own.gradient(first, x);
  });
  CHECK(number(inside(scalar(2))) == 12);
}

TEST_CASE("tape: nested tapes give higher derivatives") {
  const Tensor x = scalar(2);
  GradientTape third;
  third.watch(x);
  GradientTape second;
  second.watch(x);
  GradientTape first;
  first.watch(x);
  const Tensor y = x * x * x, dy = first.gradient(y, x), ddy = second.gradient(dy, x);
  CHECK(number(y) == 8);
  CHECK(number(dy) == 12);
  CHECK(number(ddy) == 12);
  CHECK(number(third.gradient(ddy, x)) == 6);
}

TEST_CASE("tape: tapes may end in any order") {
  const Tensor x = scalar(2);
  auto a = std::make_unique<GradientTape>();
  auto b = std::make_unique<GradientTape>();
  a->watch(x), b->watch(x);
  const Tensor y = x * x;
  a.reset();
  const Tensor z = y * x;
  CHECK(number(b->gradient(z, x)) == 12);
  b.reset();
  CHECK(context.observers == nullptr);
}

TEST_CASE("tape: output gradients weigh the targets") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x, z = 3 * x;
  CHECK(tape.gradient(y, x, {.output_gradients = {constant({10.f, 100.f})}}).to_vector<float>() == Floats{20, 400});
  CHECK(tape.gradient({y, z}, x, {.output_gradients = {Tensor(), constant({1.f, 0.f})}}).to_vector<float>() ==
        Floats{5, 4});
  CHECK_THROWS_AS(tape.gradient(y, x, {.output_gradients = {ones({3})}}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(tape.gradient(y, x, {.output_gradients = {ones({3})}}),
                    ContainsSubstring("float32[3]") && ContainsSubstring("float32[2]"));
}

TEST_CASE("tape: only floating and complex tensors can be watched") {
  GradientTape tape;
  CHECK_THROWS_AS(tape.watch(constant(3)), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(tape.watch(constant(3)), ContainsSubstring("int32[]"));
  CHECK_THROWS_AS(tape.watch(constant(true)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(tape.watch(constant("a")), errors::InvalidArgumentError);
  CHECK_THROWS_AS(tape.watch(Tensor()), errors::FailedPreconditionError);
  tape.watch(cast(constant(3.f), float16));
  tape.watch(cast(constant(3.f), complex64));
}

TEST_CASE("tape: what is done while recording is stopped is not seen") {
  const Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  Tensor z;
  {
    const auto pause = tape.stop_recording();
    z = y * y;
    {
      const auto inner = tape.stop_recording();
      (void)(x * x);
    }
    CHECK(!tape.gradient(x * 2, x).is_set());
  }
  CHECK(!tape.gradient(z, x).is_set());
  CHECK(number(tape.gradient(y, x)) == 6);
  CHECK(number(tape.gradient(x * z, x)) == 81);
}

TEST_CASE("tape: stop_gradient lets a value through and no gradient") {
  const Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  CHECK(number(tape.gradient(x * stop_gradient(x * x), x)) == 9);
}

TEST_CASE("tape: reset forgets everything, and a used tape begins anew") {
  const Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  tape.reset();
  CHECK(!tape.gradient(y, x).is_set());  // and the tape is used up
  const Tensor unseen = x * x;
  tape.reset();
  tape.watch(x);
  const Tensor z = x * x * x;
  CHECK(number(tape.gradient(z + unseen, x)) == 27);
}

TEST_CASE("tape: a failing op is not recorded and leaves the tape as it was") {
  const Tensor x = ones({2});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * 3;
  CHECK_THROWS_AS(y + ones({3}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(gather(y, constant({5})), errors::InvalidArgumentError);
  const Tensor z = y * y;
  CHECK(tape.gradient(z, x).to_vector<float>() == Floats{18, 18});
}

namespace {
Specs same_spec(const InferCall& c) { return Specs(c.spec(0)); }
void copy_kernel(const KernelCall& c) { *c.out[0].as<double>() = *c.in[0].as<double>(); }
constexpr OpDef no_rule_op{.name = "no_rule", .infer = &same_spec, .cpu = &copy_kernel};
}  // namespace

TEST_CASE("tape: an op without a gradient on the path raises and is named") {
  const Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = apply1(no_rule_op, no_attrs, no_options, x);
  CHECK(number(y) == 3);
  CHECK_THROWS_AS(tape.gradient(y, x), errors::UnimplementedError);
  CHECK_THROWS_WITH(tape.gradient(y, x), ContainsSubstring("no_rule") && ContainsSubstring("NoRule"));
  CHECK(number(tape.gradient(x * stop_gradient(y), x)) == 3);
  CHECK(number(tape.gradient(x * x, x)) == 6);
}

TEST_CASE("tape: complex gradients are conjugated, as TensorFlow's") {
  using C = std::complex<float>;
  const Tensor a = constant({C(1, 2)}, {.shape = {1, 1}}), b = constant({C(3, 4)}, {.shape = {1, 1}});
  GradientTape tape({.persistent = true});
  tape.watch(a), tape.watch(b);
  const auto slope = [&](const Tensor& y, const Tensor& x) {
    const Tensor g = tape.gradient(y, x);
    CHECK(g.dtype() == complex64);
    return g.to_vector<C>()[0];
  };
  const auto close = [](C x, C y) { return std::abs(x - y) < 1e-6f; };
  CHECK(slope(a * b, a) == C(3, -4));
  CHECK(slope(a * b, b) == C(1, -2));
  CHECK(slope(matmul(a, b), a) == C(3, -4));
  CHECK(close(slope(a / b, a), C(0.12f, 0.16f)));
  CHECK(close(slope(a / b, b), std::conj(-C(1, 2) / (C(3, 4) * C(3, 4)))));
  CHECK(slope(square(a), a) == C(2, -4));
  CHECK(slope(a * a, a) == C(2, -4));
  CHECK(slope(squared_difference(a, b), a) == C(-4, -4));
  CHECK(slope(squared_difference(a, b), b) == C(4, 4));
  CHECK(slope(reduce_prod(concat({a, b}, 0)), a) == C(3, -4));
  CHECK(slope(cumprod(concat({a, b}, 0)), a) == C(4, -4));
}

TEST_CASE("gradient() computes what its sources need and nothing else") {
  const Tensor x = ones({2, 3}), w = ones({3, 4}), v = ones({4, 5});
  GradientTape tape({.persistent = true});
  tape.watch(x), tape.watch(w), tape.watch(v);
  const Tensor h = matmul(x, w), y = matmul(h, v), beside = exp(w);
  const auto products = [&](const Tensor& target, const std::vector<Tensor>& sources) {
    auto pause = tape.stop_recording();
    debugging::enable_op_counts();
    (void)tape.gradient(target, sources);
    debugging::disable_op_counts();
    const auto counts = debugging::op_counts();
    const auto at = counts.find("matmul");
    return at == counts.end() ? 0 : at->second;
  };
  CHECK(products(y, {x, w, v}) == 4);
  CHECK(products(y, {v}) == 1);     // not beyond h
  CHECK(products(y, {x}) == 2);     // neither w's nor v's
  CHECK(products(y, {h}) == 1);     // a source within the graph
  CHECK(products(y, {w, v}) == 3);  // all but x's
  CHECK(products(y + reduce_sum(beside), {w}) == 2);
  CHECK(products(beside, {w}) == 0);
}

TEST_CASE("gradient() of one Variable leaves the others, and loops that read it many times, alone") {
  Variable a(constant(2.f)), b(constant(3.f));
  GradientTape tape({.persistent = true});
  Tensor y = constant(1.f);
  for (int i = 0; i < 5; ++i) y = y * a.value() + b.value();
  const Tensor both = tape.gradient(y, {a, b})[0], alone = tape.gradient(y, a);
  CHECK(both.item<float>() == alone.item<float>());
}
