// Errors name the function that was called, not an op that it is composed of, and the line of the call.
// Not here: those of the components (tests/linalg/solve_test.cpp).
#include "tandem/base/error.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct Wrong {
  const char* op;
  void (*call)();
};
#define WRONG(op, ...)               \
  Wrong {                            \
#op, [] { (void)(__VA_ARGS__); } \
  }

Tensor ints(const Shape& s = {2}) { return ones(Dims(s), {.dtype = int32}); }
Tensor of_rank_8() { return ones({1, 1, 1, 1, 1, 1, 1, 1}); }

// A number that the dtype does not hold.
const Wrong numbers[] = {
    WRONG(maximum, maximum(ints(), 2.5)),
    WRONG(minimum, minimum(2.5, ints())),
    WRONG(add, add(ints(), 2.5)),
    WRONG(clip_by_value, clip_by_value(ints(), .5, 2)),
    WRONG(pow, pow(ints(), 2.5)),
    WRONG(pow, pow(2.5, ints())),
    WRONG(where, where(constant({true, false}), ints(), 2.5)),
    WRONG(pad, pad(ints(), {{1, 1}}, {.constant_values = .5})),
    WRONG(leaky_relu, nn::leaky_relu(ints())),
    WRONG(approximate_equal, approximate_equal(ints(), ints())),
    WRONG(less, less(ints(), 2.5)),
    WRONG(ones_like, ones_like(constant({"a"}))),
    WRONG(full_like, full_like(ints(), .5)),
    WRONG(range, range(0, 5, 0)),
    WRONG(range, range(0, 5.5, {.dtype = int32})),
};
// A dtype that the function does not take.
const Wrong dtypes_of_composed[] = {
    WRONG(l2_loss, nn::l2_loss(ints())),
    WRONG(l2_normalize, nn::l2_normalize(ints(), {.axis = 0})),
    WRONG(instance_norm, nn::instance_norm(ints({2, 2, 2}))),
    WRONG(group_norm, nn::group_norm(ints({2, 2}), 2)),
    WRONG(batch_normalization, nn::batch_normalization(ints(), ints(), ints(), Tensor(), Tensor(), 0.1)),
    WRONG(perplexity, nn::perplexity(ints())),
    WRONG(masked_mean, nn::masked_mean(ints(), constant({true, false}))),
    WRONG(angle, angle(ints())),
    WRONG(lrn, nn::lrn(ints({1, 1, 1, 2}))),
    WRONG(local_response_normalization, nn::local_response_normalization(ints({1, 1, 1, 2}))),
    WRONG(global_norm, global_norm({ints()})),
    WRONG(global_norm, global_norm({})),
    WRONG(clip_by_global_norm, clip_by_global_norm({ints()}, 1)),
    WRONG(lbeta, lbeta(ints())),
    WRONG(cumulative_logsumexp, cumulative_logsumexp(ints())),
    WRONG(cast, cast(constant({true}), string)),
    WRONG(bitcast, bitcast(ints(), bool_)),
    WRONG(approximate_equal, approximate_equal(ones({2}), ones({3}))),
    WRONG(nextafter, nextafter(ones({2}, {.dtype = float16}), ones({3}, {.dtype = float16}))),
};
const Wrong axes_and_ranks[] = {
    WRONG(sort, sort(ones({2, 2}), {.axis = 5})),
    WRONG(argsort, argsort(constant(1.f))),
    WRONG(stack, stack({of_rank_8()})),
    WRONG(expand_dims, expand_dims(of_rank_8(), 0)),
};

void check(Span<const Wrong> calls) {
  for (const Wrong& w : calls) {
    CAPTURE(w.op);
    std::string op, text;
    try {
      w.call();
    } catch (const errors::OpError& e) {
      op = e.op(), text = e.what();
    }
    CHECK(op == w.op);
    CHECK_THAT(text, Catch::Matchers::StartsWith(std::string(w.op) + ": "));
    CHECK_THAT(text, ContainsSubstring("error_names_test.cpp:"));
  }
}

}  // namespace

TEST_CASE("errors: composed functions and numbers as operands name the function and the line of the call") {
  check(numbers);
  check(dtypes_of_composed);
  check(axes_and_ranks);
}

TEST_CASE("errors: operators name their op") {
  const Tensor i = ints();
  const auto op_of = [](const auto& f) {
    try {
      f();
    } catch (const errors::OpError& e) {
      return e.op();
    }
    return std::string();
  };
  CHECK(op_of([&] { return i + 2.5; }) == "add");
  CHECK(op_of([&] { return 2.5 * ints(); }) == "multiply");
  CHECK(op_of([&] { return i < 2.5; }) == "less");
  CHECK(op_of([&] { return i % 2.5; }) == "floormod");
}
