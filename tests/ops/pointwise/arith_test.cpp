// Arithmetic and its operators: values, broadcasting, integer wrap, IEEE corner cases, complex and half, errors.
#include "tandem/ops/pointwise/arith.hpp"

#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;
using Complex = std::complex<float>;

TEST_CASE("arith: broadcasting from the trailing axis") {
  const Tensor m = constant({{1, 2}, {3, 4}}), column = constant({{1}, {2}}), row = constant({1, 2});
  CHECK((m + column).to_vector<std::int32_t>() == Ints{2, 3, 5, 6});
  CHECK((column + row).to_vector<std::int32_t>() == Ints{2, 3, 3, 4});
  CHECK((column + row).shape() == Shape{2, 2});
  CHECK((m - 1).to_vector<std::int32_t>() == Ints{0, 1, 2, 3});
  CHECK((10 - m).to_vector<std::int32_t>() == Ints{9, 8, 7, 6});
  const Tensor none = Tensor::allocate({Shape{2, 0}, float32, {}});
  CHECK((none * constant({{1.f}, {2.f}})).shape() == Shape{2, 0});
  CHECK((none + 1.f).size() == 0);
  CHECK_THROWS_WITH(constant({{1.f, 2.f}, {1.f, 2.f}, {1.f, 2.f}}) + constant({1.f, 2.f, 3.f}),
                    ContainsSubstring("add: shapes do not broadcast: float32[3,2] x float32[3]"));
}

TEST_CASE("arith: dtypes must agree; numbers adapt") {
  CHECK_THROWS_WITH(f32({1, 2}) + f64({1, 2}),
                    ContainsSubstring("add: dtypes differ: float32[2] x float64[2] (cast one"));
  CHECK_THROWS_AS(f32({1, 2}) + f64({1, 2}), errors::InvalidArgumentError);
  CHECK((cast(f32({1, 2}), float64) + f64({1, 2})).to_vector<double>() == Doubles{2, 4});
  CHECK((i32({1, 2}) * 3.0).to_vector<std::int32_t>() == Ints{3, 6});
  CHECK_THROWS_WITH(i32({1, 2}) * 2.5, ContainsSubstring("has a fraction and is not representable in int32[2]"));
  CHECK_THROWS_WITH(b8({true}) + b8({true}), ContainsSubstring("add: no kernel for bool on CPU:0: bool[1] x bool[1]"));
}

TEST_CASE("arith: integers wrap") {
  CHECK((i32({INT32_MAX}) + 1).item<std::int32_t>() == INT32_MIN);
  CHECK((i32({INT32_MIN}) - 1).item<std::int32_t>() == INT32_MAX);
  CHECK((i32({1 << 20}) * (1 << 12)).item<std::int32_t>() == 0);
  CHECK(abs(i32({INT32_MIN, -3})).to_vector<std::int32_t>() == Ints{INT32_MIN, 3});
  CHECK((-i32({INT32_MIN})).item<std::int32_t>() == INT32_MIN);
  const Tensor bytes = constant(std::vector<std::uint8_t>{200, 255});
  CHECK((bytes + bytes).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{144, 254});
}

TEST_CASE("arith: division is true division") {
  CHECK((i32({-7}) / i32({2})).dtype() == float64);
  CHECK((i32({-7}) / 2).item<double>() == -3.5);
  const Tensor small = constant(std::vector<std::int8_t>{7});
  CHECK((small / small).dtype() == float32);
  CHECK(same(f32({1, -1, 0, 1}) / f32({0, 0, 0, -0.f}), {inf, -inf, qnan, -inf}));
}

TEST_CASE("arith: IEEE 754, nothing rewritten") {
  const Tensor zero = f32({0}), endless = f32({inf});
  CHECK(same(1.f * zero / zero, {qnan}));
  CHECK(same(1.f * endless / endless, {qnan}));
  CHECK(same(f32({tiny}) * 1.f, {tiny}));
  CHECK(same(f32({-0.f}) + f32({-0.f}), {-0.f}));
  CHECK(same(-f32({0, qnan}), {-0.f, qnan}));
  CHECK(same(abs(f32({-0.f, -inf, -tiny})), {0, inf, tiny}));
  CHECK(same(maximum(f32({qnan, 1, 2}), f32({1, qnan, 3})), {qnan, qnan, 3}));
  CHECK(same(minimum(f32({qnan, 1, 2}), f32({1, qnan, 3})), {qnan, qnan, 2}));
  CHECK(same(sign(f32({-2, 0, 5, qnan})), {-1, 0, 1, qnan}));
  CHECK(same(square(f32({-3})), {9}));
}

TEST_CASE("arith: compound assignment leaves other handles alone") {
  Tensor x = i32({1, 2});
  const Tensor before = x;
  x += i32({10, 10});
  x *= 2;
  x %= 5;
  CHECK(x.to_vector<std::int32_t>() == Ints{2, 4});
  CHECK(before.to_vector<std::int32_t>() == Ints{1, 2});
}

TEST_CASE("arith: complex numbers and half precision") {
  const Tensor a = constant(std::vector<Complex>{{1, 2}, {3, -1}}), b = constant(std::vector<Complex>{{0, 1}, {2, 2}});
  CHECK((a + b).to_vector<Complex>() == std::vector<Complex>{{1, 3}, {5, 1}});
  CHECK((a - b).to_vector<Complex>() == std::vector<Complex>{{1, 1}, {1, -3}});
  CHECK((a * b).to_vector<Complex>() == std::vector<Complex>{{-2, 1}, {8, 4}});
  CHECK((a / b).to_vector<Complex>() == std::vector<Complex>{{2, -1}, {.5f, -1}});
  CHECK((-a).to_vector<Complex>() == std::vector<Complex>{{-1, -2}, {-3, 1}});
  CHECK(square(a).to_vector<Complex>() == std::vector<Complex>{{-3, 4}, {8, -6}});
  CHECK((a + constant(std::vector<Complex>{{1, 0}})).to_vector<Complex>() == std::vector<Complex>{{2, 2}, {4, -1}});
  const Tensor half = cast(f32({1.5f, -2}), float16);
  CHECK((half * half).dtype() == float16);
  CHECK(cast(half * half, float32).to_vector<float>() == Floats{2.25f, 4});
}

TEST_CASE("arith: add joins strings") {
  const Tensor a = constant({"pear", "", "x"}), b = constant("s");
  CHECK((a + b).to_vector<std::string>() == std::vector<std::string>{"pears", "s", "xs"});
  CHECK_THROWS_AS(a * b, errors::UnimplementedError);
}

TEST_CASE("arith: operators write into temporaries that nobody else holds") {
  const Tensor y = f32({10, 20}), row = f32({1, 2});
  Tensor x = f32({1, 2});
  const void* const buffer = x.raw();
  const std::uint64_t id = x.id();
  x = std::move(x) * 2 + y;
  CHECK(x.raw() == buffer);
  CHECK(x.id() != id);  // a value of its own, to a tape
  x -= 1;
  x /= row;
  CHECK(x.raw() == buffer);
  CHECK(x.to_vector<float>() == Floats{11, 11.5f});
  x += x;
  CHECK(x.raw() == buffer);
  CHECK(x.to_vector<float>() == Floats{22, 23});
  x = 1 - std::move(x);
  CHECK(x.raw() == buffer);
  x = y * std::move(x);
  CHECK(x.raw() == buffer);
  CHECK(x.to_vector<float>() == Floats{-210, -440});
  CHECK(y.to_vector<float>() == Floats{10, 20});
}

TEST_CASE("arith: operators write into no buffer that is held, viewed, borrowed, recorded or of another spec") {
  const auto kept = [](Tensor x, const auto& f) {
    const void* const buffer = x.raw();
    const Tensor result = f(std::move(x));
    return result.raw() != buffer;
  };
  const Tensor held = f32({1, 2});
  CHECK(kept(held, [](Tensor&& x) { return std::move(x) + 1; }));
  CHECK(held.to_vector<float>() == Floats{1, 2});
  Tensor viewed = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor view = viewed[1];
  CHECK(kept(std::move(viewed), [](Tensor&& x) { return std::move(x) * 2; }));
  CHECK(kept(view, [](Tensor&& x) { return std::move(x) * 2; }));
  CHECK(view.to_vector<float>() == Floats{3, 4});
  CHECK(kept(f32({1, 2}), [](Tensor&& x) { return std::move(x) + constant({{1.f}, {2.f}}); }));
  CHECK(kept(i32({1, 2}), [](Tensor&& x) { return std::move(x) / 2; }));
  const float borrowed[] = {1, 2};
  CHECK(kept(Tensor::borrow(borrowed, {{2}, float32, {}}, {}), [](Tensor&& x) { return std::move(x) * 3; }));
  CHECK(borrowed[0] == 1);
  const Variable v(f32({1, 2}));
  CHECK((v + Tensor(v)).to_vector<float>() == Floats{2, 4});
  CHECK(Tensor(v).to_vector<float>() == Floats{1, 2});

  GradientTape tape;
  tape.watch(held);
  const Tensor loss = reduce_sum((held + 1) * (held + 2) * held);  // x^3 + 3x^2 + 2x
  CHECK(tape.gradient(loss, held).to_vector<float>() == Floats{11, 26});
}

TEST_CASE("arith: an operator that raises leaves a temporary's name as it was") {
  Tensor x = f32({1, 2});
  CHECK_THROWS_AS(x += f32({1, 2, 3}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(x *= i32({1, 2}), errors::InvalidArgumentError);
  CHECK(x.to_vector<float>() == Floats{1, 2});
  CHECK_THROWS_AS(Tensor() + x, errors::FailedPreconditionError);
}
