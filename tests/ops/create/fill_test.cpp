// zeros, ones, fill, eye and the *_like forms: values, dtypes, shapes known late, errors, gradients.
#include "tandem/ops/create/fill.hpp"

#include <algorithm>
#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
// Counts what a trace would stage.
struct Counter final : Stager {
  int staged = 0;
  Counter() { context.stager = this; }
  ~Counter() { context.stager = nullptr; }
  Tensors stage(const InferCall&, const Specs& specs) override {
    ++staged;
    Tensors out;
    for (const Spec& s : specs) out.push_back(Tensor::symbol(s));
    return out;
  }
  Tensor read(const Variable&) override { return {}; }
  void assign(const Variable&, const Tensor&) override {}
  void created(const Variable&) override {}
  void lift(Callable body) override { body.call(body.self); }
  std::string origin(const Tensor&) override { return {}; }
};
}  // namespace

TEST_CASE("zeros and ones of every dtype") {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    const Tensor z = zeros({2, 3}, {.dtype = dtype});
    CHECK(z.spec() == Spec{{2, 3}, dtype, {}});
    if (dtype == string) {
      CHECK(z.to_vector<std::string>() == std::vector<std::string>(6));
      CHECK_THROWS_AS(ones({2}, {.dtype = dtype}), errors::InvalidArgumentError);
    } else {
      const char* bytes = static_cast<const char*>(z.raw());
      CHECK(std::all_of(bytes, bytes + z.spec().bytes(), [](char c) { return c == 0; }));
    }
  }
  CHECK(zeros({2, 0}).size() == 0);
  CHECK(zeros({}).item<float>() == 0);
  CHECK(ones({2}).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(ones({2}, {.dtype = bool_}).to_vector<bool>() == std::vector<bool>{true, true});
  CHECK(ones({2}, {.dtype = int8}).to_vector<std::int8_t>() == std::vector<std::int8_t>{1, 1});
  CHECK(static_cast<float>(ones({}, {.dtype = bfloat16}).item<BFloat16>()) == 1.f);
  CHECK_THROWS_AS(zeros({2, -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ones({none}), errors::InvalidArgumentError);
}

TEST_CASE("fill repeats a literal") {
  CHECK(fill({2}, 7).to_vector<std::int32_t>() == std::vector<std::int32_t>{7, 7});
  CHECK(fill({2, 2}, 0.5).to_vector<float>() == std::vector<float>(4, 0.5f));
  CHECK(fill({3}, "ab").to_vector<std::string>() == std::vector<std::string>(3, "ab"));
  CHECK(fill({2}, 0.1, {.dtype = float64}).to_vector<double>() == std::vector<double>{0.1, 0.1});
  CHECK(fill({0}, 1).size() == 0);
  CHECK(fill({}, 4).item<std::int32_t>() == 4);
  CHECK_THROWS_AS(fill({-2}, 1), errors::InvalidArgumentError);
}

TEST_CASE("fill takes dims and value from tensors") {
  CHECK(fill({2, 2}, constant(3.f)).to_vector<float>() == std::vector<float>(4, 3.f));
  CHECK(fill(constant({2, 3}), constant("s")).to_vector<std::string>() == std::vector<std::string>(6, "s"));
  CHECK(fill(constant(std::vector<i64>{0, 5}), constant(1)).shape() == Shape{0, 5});
  CHECK(fill(constant(std::vector<i64>{}), constant(1)).shape() == Shape{});
  CHECK_THROWS_WITH(fill(constant({2, -1}), constant(1)), ContainsSubstring("size -1 of axis 1"));
  CHECK_THROWS_WITH(fill(constant({2}), constant({1, 2})), ContainsSubstring("rank 0"));
  CHECK_THROWS_AS(fill(constant({2.f}), constant(1)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(fill(constant(2), constant(1)), errors::InvalidArgumentError);
}

TEST_CASE("fill: gradient to the value is the sum") {
  const Tensor x = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = fill({3, 2}, x);
  CHECK(tape.gradient(y, x).item<float>() == 6.f);
}

TEST_CASE("the *_like forms read a shape alone") {
  const Tensor x = constant({{1.5f, 2.f}});
  CHECK(zeros_like(x).spec() == x.spec());
  CHECK(ones_like(x).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(ones_like(x, {.dtype = int64}).to_vector<i64>() == std::vector<i64>{1, 1});
  CHECK(full_like(x, -2.5).to_vector<float>() == std::vector<float>{-2.5f, -2.5f});
  CHECK(std::signbit(full_like(x, -0.0).to_vector<float>()[0]));
  CHECK(full_like(constant({1, 2}), INT32_MIN).to_vector<std::int32_t>() == std::vector<std::int32_t>(2, INT32_MIN));
  CHECK(full_like(x, INT64_MAX, {.dtype = int64}).to_vector<i64>() == std::vector<i64>(2, INT64_MAX));
  CHECK(zeros_like(constant({"a", "b"})).to_vector<std::string>() == std::vector<std::string>(2));
  CHECK(ones_like(constant({"a"}), {.dtype = float32}).item<float>() == 1);
  CHECK(zeros_like(zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(ones_like(Tensor::symbol({{2}, float32, {}})).to_vector<float>() == std::vector<float>{1, 1});
  CHECK_THROWS_AS(ones_like(constant({"a"})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(full_like(constant({1}), 0.5), ContainsSubstring("fraction"));
}

TEST_CASE("the *_like forms stop the gradient") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor g = tape.gradient(ones_like(x), x);
  CHECK_FALSE(g.is_set());
  CHECK_THROWS_WITH(g.item<float>(), ContainsSubstring("FullLike"));
}

TEST_CASE("in a trace, what numbers determine is a constant, what a tensor determines a node") {
  const Tensor x = Tensor::symbol({{none, 2}, float32, {}});
  Counter trace;
  CHECK(zeros({2}, {.dtype = float16}).raw() != nullptr);
  CHECK(ones({2}).raw() != nullptr);
  CHECK(fill({2}, 1.5, {.dtype = float64}).raw() != nullptr);
  CHECK(constant(1, {.dtype = int8}).raw() != nullptr);
  CHECK(eye(2).raw() != nullptr);
  CHECK(trace.staged == 0);
  CHECK(zeros_like(x).shape() == Shape{none, 2});
  CHECK(trace.staged == 1);
  const Tensor dims = Tensor::symbol({{3}, int32, {}});
  CHECK(fill(dims, constant(1.f)).shape() == Shape{none, none, none});
  CHECK(fill(constant({4, 5}), constant(1.f)).shape() == Shape{4, 5});
}

TEST_CASE("eye") {
  CHECK(eye(2).to_vector<float>() == std::vector<float>{1, 0, 0, 1});
  CHECK(eye(2, {.num_columns = 3}).to_vector<float>() == std::vector<float>{1, 0, 0, 0, 1, 0});
  CHECK(eye(3, {.num_columns = 1, .dtype = int32}).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 0, 0});
  const Tensor batch = eye(2, {.batch_shape = {2, 1}});
  CHECK(batch.shape() == Shape{2, 1, 2, 2});
  CHECK(batch.to_vector<float>() == std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK(eye(2, {.batch_shape = {0}}).size() == 0);
  CHECK(eye(1, {.dtype = complex64}).item<std::complex<float>>() == std::complex<float>(1, 0));
  CHECK_THROWS_AS(eye(-1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(eye(2, {.dtype = string}), errors::InvalidArgumentError);
}

TEST_CASE("a large tensor is filled to its last element") {
  for (const i64 n : {255, 256, 257, 1'000'003}) {
    const auto v = full_like(zeros({n}), 3).to_vector<float>();
    REQUIRE(std::count(v.begin(), v.end(), 3.f) == n);
  }
}
