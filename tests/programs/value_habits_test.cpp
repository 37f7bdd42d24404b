// Numbers where a value is wanted, and Variables used as the tensors that they hold.
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

TEST_CASE("a Variable of a number has rank 0 and the dtype of a literal") {
  CHECK(Variable(1.5f).dtype() == float32);
  CHECK(Variable(1.5).dtype() == float32);
  CHECK(Variable(5).dtype() == int32);
  CHECK(Variable(i64{5}).dtype() == int64);
  CHECK(Variable(true).dtype() == bool_);
  const Variable v(2.5f, {.name = "rate", .trainable = false});
  CHECK(v.shape() == Shape{});
  CHECK(v.item<float>() == 2.5f);
  CHECK(v.name() == "rate");
  CHECK_FALSE(v.trainable());
}

TEST_CASE("a Variable with a dtype can be made in a traced function") {
  std::optional<Variable> v;
  const auto f = function([&](const Tensor& x) {
    if (!v) v.emplace(constant({1, 2}), VariableOptions{.dtype = float32});
    return x * *v;
  });
  CHECK(floats(f(constant({2.f, 3.f}))) == Floats{2, 6});
  CHECK(v->dtype() == float32);
}

TEST_CASE("numbers are assigned and added, to every element") {
  const Variable v(constant({1.f, 2.f})), n(5);
  CHECK(v.assign(7).to_vector<float>() == Floats{7, 7});
  CHECK(v.assign_add(1).to_vector<float>() == Floats{8, 8});
  CHECK(v.assign_sub(0.5).to_vector<float>() == Floats{7.5f, 7.5f});
  v += 1, v -= 0.5f;
  CHECK(floats(v) == Floats{8, 8});
  v += constant({1.f, 2.f});
  v -= v[0];
  CHECK(floats(v) == Floats{0, 1});
  n += 2;
  CHECK(n.item<int>() == 7);
  const Variable b(false);
  CHECK(b.assign(true).item<bool>());
  const optimizers::Adam adam(1e-3);
  adam.learning_rate().assign(3e-4f);
  CHECK(adam.learning_rate().item<float>() == 3e-4f);
}

TEST_CASE("a number that a Variable cannot hold is refused, and the Variable left as it was") {
  const Variable v(constant({1, 2}, DType::int8), {.name = "count"});
  CHECK_THROWS_WITH(v.assign(0.5), ContainsSubstring("assign: ") && ContainsSubstring("variable 'count', int8[2]"));
  CHECK_THROWS_WITH(v.assign(300), ContainsSubstring("300"));
  CHECK_THROWS_WITH(v.assign_add(-200), ContainsSubstring("assign_add: "));
  CHECK_THROWS_AS(v += 0.5, errors::InvalidArgumentError);
  CHECK(v.to_vector<std::int8_t>() == std::vector<std::int8_t>{1, 2});
}

TEST_CASE("numbers are assigned in traced functions") {
  const Variable v(constant({1.f, 2.f})), steps(0);
  const auto step = function([&](const Tensor& x) {
    v.assign(3);
    v += 1;
    steps += 1;
    return v * x;
  });
  for (int i = 1; i <= 3; ++i) {
    CHECK(floats(step(constant(2.f))) == Floats{8, 8});
    CHECK(steps.item<int>() == i);
  }
}

TEST_CASE("parts of a Variable") {
  const Variable v(reshape(range(12.f), {3, 4}));
  CHECK(v.rank() == 2);
  CHECK(v.size() == 12);
  CHECK(floats(v[1]) == Floats{4, 5, 6, 7});
  CHECK(floats(v[-1]) == Floats{8, 9, 10, 11});
  CHECK(floats(v(Ellipsis, 2)) == Floats{2, 6, 10});
  CHECK(v(Slice(0, 2), -1).shape() == Shape{2});
  CHECK(floats(v.value()) == floats(v.read_value()));
  GradientTape tape;
  const Tensor y = reduce_sum(v[1] * v[1]) + v(0, 0);
  CHECK(floats(tape.gradient(y, v)) == Floats{1, 0, 0, 0, 8, 10, 12, 14, 0, 0, 0, 0});
}

TEST_CASE("where of two numbers") {
  const Tensor mask = constant({true, false});
  CHECK(where(mask, 0, 1).to_vector<int>() == std::vector<int>{0, 1});
  CHECK(floats(where(mask, 1.f, 0.f)) == Floats{1, 0});
  CHECK(floats(where(mask, 1.5, 0)) == Floats{1.5f, 0});
  CHECK(where(mask, 1, i64{2}).dtype() == int64);
  CHECK_THROWS_AS(where(constant({1, 0}), 1, 0), errors::InvalidArgumentError);
}

TEST_CASE("linspace in other dtypes") {
  CHECK(linspace(0, 1, 5).dtype() == float32);
  CHECK(linspace(0, 1, 4, float64).to_vector<double>() == std::vector<double>{0, 1 / 3., 2 / 3., 1});
  CHECK(linspace(0.1, 0.7, 3, {.dtype = float64}).to_vector<double>()[2] == 0.7);
  CHECK(floats(cast(linspace(0, 1, 3, float16), float32)) == Floats{0, 0.5f, 1});
  CHECK_THROWS_WITH(linspace(0, 1, 5, int32), ContainsSubstring("must be floating, not int32"));
  CHECK_THROWS_AS(linspace(0, 1, 5, {.axis = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(linspace(constant(0.f), constant(1.f), 5, {.dtype = float64}),
                    ContainsSubstring("cast start and stop"));
}

TEST_CASE("dims of a shape are counted from both ends, and checked") {
  const Tensor x = zeros({2, 3, 4});
  CHECK(x.shape()[-1] == 4);
  CHECK(x.shape()[-3] == 2);
  CHECK(x.shape()[2] == 4);
  CHECK_THROWS_WITH(x.shape()[3], ContainsSubstring("(2, 3, 4) has no axis 3; axes are -3 to 2"));
  CHECK_THROWS_AS(x.shape()[-4], errors::InvalidArgumentError);
  CHECK_THROWS_WITH(Shape{}[0], ContainsSubstring("its rank is 0"));
}

TEST_CASE("x[i] of an index in a tensor") {
  const Tensor x = reshape(range(6.f), {3, 2});
  const Variable v(x);
  CHECK(floats(x[constant(1)]) == Floats{2, 3});
  CHECK(floats(x[constant(i64{-1})]) == Floats{4, 5});
  CHECK(floats(v[constant(2)]) == Floats{4, 5});
  CHECK(floats(x[constant({-1, 0})]) == Floats{4, 5, 0, 1});
  CHECK(x[constant({{0, 1, 2}})].shape() == Shape{1, 3, 2});
  CHECK_THROWS_AS(x[constant(3)], errors::InvalidArgumentError);
  CHECK_THROWS_AS(x[constant({0, -4})], errors::InvalidArgumentError);
  CHECK_THROWS_WITH(x[constant(1.f)], ContainsSubstring("x[i]: an index must be int32 or int64, not float32[]"));
  CHECK_THROWS_AS(constant(1.f)[constant({0})], errors::InvalidArgumentError);

  GradientTape tape({.persistent = true});
  tape.watch(x);
  CHECK(floats(tape.gradient(reduce_sum(square(x[constant(1)])), x)) == Floats{0, 0, 4, 6, 0, 0});
  CHECK(floats(tape.gradient(reduce_sum(square(x[constant({-1, 1, -1})])), x)) == Floats{0, 0, 4, 6, 16, 20});
}

TEST_CASE("x[i] in traced functions, also of an open leading axis") {
  const auto at = [](const Tensor& x, const Tensor& i) { return x[i]; };
  const auto fixed = function(at);
  const auto open = function(at, {.input_signature = {TensorSpec({none, 2}, float32), TensorSpec({}, int32)}});
  for (const int rows : {3, 5}) {
    const Tensor x = reshape(range(2.f * static_cast<float>(rows)), {rows, 2});
    for (const int i : {0, 1, -1, -rows}) {
      CHECK(floats(fixed(x, constant(i))) == floats(x[i]));
      CHECK(floats(open(x, constant(i))) == floats(x[i]));
    }
    CHECK_THROWS_AS(open(x, constant(rows)), errors::InvalidArgumentError);
  }
  const auto total = function([](const Tensor& x) {
    return while_loop([&](const Tensor& t, const Tensor&) { return t < shape(x)[0]; },
                      [&](const Tensor& t, const Tensor& s) { return std::tuple(t + 1, s + x[t]); },
                      std::tuple(constant(0), zeros({2})));
  });
  CHECK(floats(std::get<1>(total(reshape(range(6.f), {3, 2})))) == Floats{6, 9});
}

TEST_CASE("range of one tensor") {
  CHECK(range(constant(3)).to_vector<int>() == std::vector<int>{0, 1, 2});
  CHECK(range(constant(2.5f)).to_vector<float>() == Floats{0, 1, 2});
  const auto upto = function([](const Tensor& n) { return range(n); });
  CHECK(upto(constant(4)).to_vector<int>() == std::vector<int>{0, 1, 2, 3});
  CHECK(upto(constant(2)).to_vector<int>() == std::vector<int>{0, 1});
}

TEST_CASE("vectors of vectors") {
  const std::vector<std::vector<float>> m{{1, 2, 3}, {4, 5, 6}};
  CHECK(constant(m).shape() == Shape{2, 3});
  CHECK(floats(constant(m)) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(constant(m, float64).dtype() == float64);
  CHECK(constant(m, {.shape = {3, 2}}).shape() == Shape{3, 2});
  CHECK(convert_to_tensor(m).shape() == Shape{2, 3});
  const std::vector<std::vector<std::array<std::string, 2>>> deep{{{"a", "b"}}, {{"c", "d"}}};
  CHECK(constant(deep).shape() == Shape{2, 1, 2});
  CHECK(constant(deep).to_vector<std::string>() == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(constant(std::vector<std::vector<int>>()).shape() == Shape{0, 0});
  CHECK(constant(std::vector<std::vector<int>>(3)).shape() == Shape{3, 0});
  CHECK_THROWS_WITH(constant(std::vector<std::vector<int>>{{1, 2}, {3}}),
                    Catch::Matchers::StartsWith("constant: the rows differ"));
}
