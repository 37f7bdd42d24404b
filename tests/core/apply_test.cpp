// apply and apply_one: the short way of plain calls and the long way of all others give and raise the same.
#include "tandem/core/apply.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

std::string error_of(const OpDef& op, const Tensor& a, const Tensor& b, bool one, const OpOptions& options) {
  const Tensor* const in[] = {&a, &b};
  try {
    if (one) apply_one(op, in, no_attrs, options);
    else apply(op, in, no_attrs, options);
  } catch (const errors::OpError& e) {
    return e.what();
  }
  return "no error";
}

// x and 2 x, by a row that speaks of one output.
Specs infer_two(const InferCall& c) { return {c.spec(0), c.spec(0)}; }
void fill_two(const KernelCall& c) {
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    c.out[0].as<float>()[i] = c.in[0].as<const float>()[i];
    c.out[1].as<float>()[i] = 2 * c.in[0].as<const float>()[i];
  }
}
constexpr OpDef two_op{.name = "two", .infer = &infer_two, .cpu = &fill_two};

// Takes floats, named x and w, and any number of further tensors.
Specs infer_first(const InferCall& c) { return {c.spec(0)}; }
constexpr OpDef named_op{.name = "named",
                         .input_names = "x, w, more...",
                         .infer = &infer_first,
                         .cpu = &fill_two,
                         .dtypes = dtypes::floating,
                         .dtype_input = 1,
                         .inputs = at_least(2)};
constexpr OpDef unnamed_op{.name = "unnamed", .infer = &infer_first, .cpu = &fill_two, .inputs = 2};
}  // namespace

TEST_CASE("apply: errors name the inputs") {
  CHECK(input_name(named_op, 0) == "x");
  CHECK(input_name(named_op, 1) == "w");
  CHECK(input_name(named_op, 4) == "more[2]");
  CHECK(input_name(unnamed_op, 1) == "input 1");
  const Tensor x = constant({1.f, 2.f}), n = constant({1, 2}), unset;
  CHECK_THAT(error_of(named_op, x, n, false, no_options),
             ContainsSubstring("named: no kernel for int32 on CPU:0: x is float32[2], w is int32[2]"));
  CHECK_THAT(error_of(named_op, x, unset, true, no_options), ContainsSubstring("named: w: the tensor is unset"));
  CHECK_THAT(error_of(add_op, x, unset, true, no_options), ContainsSubstring("add: b: the tensor is unset"));
}

TEST_CASE("apply: both ways give the same value and are recorded") {
  const Tensor a = constant({1.f, 2.f}), b = constant({3.f, 5.f});
  const Tensor* const in[] = {&a, &b};
  GradientTape tape({.persistent = true});
  tape.watch(a);
  const Tensor shorter = apply_one(multiply_op, in, no_attrs, no_options);
  const Tensor longer = apply(multiply_op, in)[0];
  CHECK(shorter.to_vector<float>() == Floats{3, 10});
  CHECK(longer.to_vector<float>() == Floats{3, 10});
  CHECK(tape.gradient(shorter, a).to_vector<float>() == Floats{3, 5});
  CHECK(tape.gradient(longer, a).to_vector<float>() == Floats{3, 5});
}

TEST_CASE("apply: both ways raise the same, under the user's name") {
  const Tensor a = constant({1.f, 2.f}), b = constant({1.f, 2.f, 3.f}), flag = constant({true, false}), unset;
  const OpOptions named{.name = "sum"};
  for (const OpOptions* o : {&no_options, &named}) {
    for (const auto& [x, y] : {std::pair{a, b}, {a, flag}, {flag, flag}, {a, unset}, {unset, a}}) {
      const std::string text = error_of(add_op, x, y, true, *o);
      CHECK(text == error_of(add_op, x, y, false, *o));
      CHECK(text != "no error");
      CHECK((text.find(" 'sum': ") != std::string::npos) == (o == &named));
    }
  }
}

TEST_CASE("apply: the first of several outputs") {
  const Tensor a = constant({1.f, 2.f});
  const Tensor* const in[] = {&a};
  CHECK(apply_one(two_op, in, no_attrs, no_options).to_vector<float>() == Floats{1, 2});
  const Tensors both = apply(two_op, in);
  REQUIRE(both.size() == 2);
  CHECK(both[1].to_vector<float>() == Floats{2, 4});
}

TEST_CASE("apply: more inputs than the short way takes") {
  std::vector<Tensor> parts;
  Floats want;
  for (int i = 0; i < 12; ++i)
    parts.push_back(constant({static_cast<float>(i)})), want.push_back(static_cast<float>(i));
  CHECK(concat(parts, 0).to_vector<float>() == want);
}
