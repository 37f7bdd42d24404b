// What errors say: the op as its users know it, and where the call stands. How Variables print.
#include <functional>
#include <sstream>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using testing::error_of, testing::floats, testing::Floats;

namespace {

const Tensor x = ones({2, 3});

}  // namespace

TEST_CASE("an eager error ends with the file and line of the call") {
  const int line = __LINE__ + 1;
  const std::string text = error_of([] { return matmul(x, ones({4, 5})); });
  CHECK_THAT(text, StartsWith("matmul: ") && ContainsSubstring("float32[2,3] x float32[4,5]"));
  CHECK_THAT(text, ContainsSubstring("errors_test.cpp:" + std::to_string(line) + ")"));
  CHECK_THAT(error_of([] {
               return matmul(x, ones({4, 5}), {.name = "logits"});
             }),
             StartsWith("matmul 'logits': ") && ContainsSubstring("errors_test.cpp:"));
  CHECK_THAT(error_of([] { return reduce_sum(x, {7}); }), ContainsSubstring("errors_test.cpp:"));
  CHECK_THAT(error_of([] { return gather(x, constant({9})); }), ContainsSubstring("errors_test.cpp:"));  // a kernel's
}

TEST_CASE("so does an error that a function raises before it applies an op") {
  const Tensor v = constant({1.f, 2.f}), one = constant(1.f);
  const std::function<void()> wrong[] = {
      [&] { concat({}, 0); },
      [&] {
        split(v, {3, -1, -1});
      },
      [&] { stack({}); },
      [&] {
        zeros({2, -1});
      },
      [&] {
        zeros({v, 2});
      },
      [&] { eye(-1); },
      [&] {
        reshape(v, {-1, -1});
      },
      [&] { tile(v, {v}); },
      [&] {
        pad(x, {{1, 1}});
      },
      [&] { broadcast_to(v, {-3}); },
      [&] { nn::flatten(one); },
      [&] { linalg::adjoint(v); },
      [&] { linalg::matvec(v, v); },
      [&] { linalg::tensor_diag_part(x); },
      [&] { matmul(x, x, {.transpose_a = true, .adjoint_a = true}); },
      [&] { random::normal({2}, {.stddev = -1}); },
      [&] { random::uniform({2}, 3, 3); },
      [&] {
        random::stateless_normal({2}, {1, 2}, {.seed = 3});
      },
      [&] { random::categorical(x, -1); },
      [&] { nn::dropout(x, {.rate = 2}); },
      [&] {
        constant({1.f, 2.f}, {.shape = {3}});
      },
      [&] { linspace(0, 1, 0); },
      [&] { sequence_mask(constant({1}), -1); },
      [&] { nn::batch_gather(x, constant(1)); },
      [&] { linalg::trace(v); },  // raised by an op that trace applies
      [&] { nn::moments(x, {5}); },
  };
  for (std::size_t i = 0; i < std::size(wrong); ++i) {
    CAPTURE(i);
    const std::string text = error_of(wrong[i]);
    CHECK_THAT(text, ContainsSubstring("errors_test.cpp:"));
    CHECK_THAT(text, !ContainsSubstring("include/tandem"));
  }
  CHECK_THAT(error_of([&] { return nn::dropout(x, {.name = "drop", .rate = 2}); }), ContainsSubstring("'drop'"));
}

TEST_CASE("errors of operators and layers name the innermost scope, no line of the library") {
  CHECK_THAT(error_of([] { return x + ones({2, 4}); }), ContainsSubstring("float32[2,3] x float32[2,4]"));
  const layers::Dense dense(4);
  const layers::LSTM lstm(4);
  dense(x), lstm(ones({2, 3, 5}));
  const std::function<Tensor()> wrong[] = {[] {
                                             return x + ones({2, 4});
                                           },
                                           [&] {
                                             return dense(ones({2, 7}));
                                           },
                                           [&] {
                                             return lstm(ones({2, 3, 6})).output;
                                           }};
  for (const auto& f : wrong) CHECK_THAT(error_of(f), !ContainsSubstring("include/tandem"));
  const name_scope outer("encoder"), inner("attention");
  for (const auto& f : wrong)
    CHECK_THAT(error_of(f),
               !ContainsSubstring("include/tandem") && ContainsSubstring("(in the scope encoder/attention)"));
}

TEST_CASE("an error names what the user called") {
  CHECK_THAT(error_of([] { return split(ones({3}), 2); }), StartsWith("split"));
  CHECK_THAT(error_of([] { return where(x, x, x); }), StartsWith("where"));
  CHECK_THAT(error_of([] { return x[5]; }), StartsWith("x[i]: "));
  CHECK_THAT(error_of([] { return x(0, 0, 0); }), StartsWith("x(...): "));
  CHECK_THAT(error_of([] { return x(Slice(0, 1), 7); }), StartsWith("x(...): "));
  CHECK_THAT(error_of([] { return zeros({2, -1}); }), StartsWith("zeros: ") && ContainsSubstring("negative"));
  CHECK_THAT(error_of([] { return ones({i64{1} << 40, i64{1} << 40}); }), StartsWith("ones: "));
  CHECK_THAT(error_of([] { return eye(-1); }), StartsWith("eye: "));
  CHECK_THAT(error_of([] { return random::normal({-1}); }), StartsWith("random::normal"));
  CHECK_THAT(error_of([] { return random::uniform({-1}); }), StartsWith("random::uniform"));
  const auto traced = function([](const Tensor& t, const Tensor& n) { return reshape(t, {n, 4}); });
  CHECK_THAT(error_of([&] { return traced(x, 2); }), StartsWith("reshape"));
}

TEST_CASE("an error names options as they were given") {
  CHECK_THAT(error_of([] { return losses::huber(x, x, -0.5); }), ContainsSubstring("not -0.5 ("));
  CHECK_THAT(error_of([] { return random::uniform({2}, {.minval = 1e-9, .maxval = 1e-10}); }),
             ContainsSubstring("minval 1e-09 is not below maxval 1e-10"));
  CHECK_THAT(error_of([] { return clip_by_norm(x, -0.25); }), ContainsSubstring("not -0.25 ("));
  CHECK_THAT(error_of([] { return optimizers::SGD({.momentum = 1.5}); }),
             ContainsSubstring("not 1.5") && !ContainsSubstring("1.50"));
  CHECK_THAT(error_of([] { return metrics::F1Score({.threshold = 1.25}); }),
             ContainsSubstring("not 1.25") && !ContainsSubstring("1.250"));
}

TEST_CASE("a dtype without a kernel gets the way out") {
  CHECK_THAT(error_of([] {
               return log(constant({1, 2}));
             }),
             StartsWith("log: no kernel for int32 on CPU:0: int32[2]") && ContainsSubstring("cast(x, float32)"));
  CHECK_THAT(error_of([] { return matmul(x, cast(x, float16), {.transpose_b = true}); }), StartsWith("matmul: "));
  CHECK_THAT(error_of([] { return log(constant({"a"})); }), !ContainsSubstring("cast"));
}

TEST_CASE("zeros of a size that is not known says the way out") {
  const auto f = function(
      [](const Tensor& t) {
        return zeros({t.shape()[0], 3});
      },
      {.input_signature = {TensorSpec({none, 3}, float32)}});
  CHECK_THAT(error_of([&] { return f(x); }), StartsWith("zeros: ") && ContainsSubstring("shape(x)[axis]"));
}

TEST_CASE("a Variable prints as one") {
  const auto shown = [](const Variable& v) {
    std::ostringstream out;
    out << v;
    return out.str();
  };
  CHECK(shown(Variable(constant({1.f, 2.5f}), {.name = "w"})) ==
        "tandem.Variable(\"w\", [1.0, 2.5], shape=(2,), dtype=float32)");
  CHECK(shown(Variable(constant({{1}, {2}}), {.name = "m"})) ==
        "tandem.Variable(\"m\",\n[[1],\n [2]], shape=(2, 1), dtype=int32)");
  const Variable v(1.f, {.name = "v"});
  std::string traced;
  function([&] {
    traced = shown(v);
    return v + 1;
  })();
  CHECK(traced == "tandem.Variable(\"v\", shape=(), dtype=float32)");
}
