// debugging::assert_*: what passes, what fails and what the error says, eager and staged.
#include "tandem/ops/debug/assert.hpp"

#include <cmath>
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorder.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using errors::InvalidArgumentError;
using testing::Recorder;

namespace {

using List = std::vector<Tensor>;
constexpr float inf = std::numeric_limits<float>::infinity();

// The text of what f throws; its op must be that one.
template <class F>
std::string failure(const std::string& op, const F& f) {
  try {
    f();
  } catch (const InvalidArgumentError& e) {
    CHECK(e.op() == op);
    return e.what();
  }
  FAIL_CHECK(op << " did not throw");
  return {};
}

}  // namespace

TEST_CASE("assert: ranks") {
  const Tensor x = constant({{1}, {2}});
  CHECK_THAT(failure("assert_rank", [&] { debugging::assert_rank(x, 1); }),
             ContainsSubstring("rank 2") && ContainsSubstring("(2, 1)") && ContainsSubstring("expected rank 1"));
  debugging::assert_rank(x, 2);
  debugging::assert_rank(Variable(x), 2);
  debugging::assert_rank_at_least(x, 0);
  debugging::assert_rank_at_least(x, 2);
  CHECK_THAT(failure("assert_rank_at_least", [&] { debugging::assert_rank_at_least(x, 3); }),
             ContainsSubstring("rank 2") && ContainsSubstring("rank 3 or more"));
  debugging::assert_rank_in(x, {1, 2});
  CHECK_THAT(failure("assert_rank_in",
                     [&] {
                       debugging::assert_rank_in(x, {0, 1}, {.message = "weights"});
                     }),
             ContainsSubstring("weights: int32[2,1]") && ContainsSubstring("expected rank 0 or 1"));
  debugging::assert_scalar(constant(1.f));
  CHECK_THAT(failure("assert_scalar", [&] { debugging::assert_scalar(x, {.name = "rate"}); }),
             ContainsSubstring("assert_scalar 'rate': ") && ContainsSubstring("expected rank 0"));
}

TEST_CASE("assert: dtypes") {
  const Tensor f = constant(1.f), i = constant(1);
  debugging::assert_type(f, float32);
  CHECK_THAT(failure("assert_type", [&] { debugging::assert_type(i, float32); }),
             ContainsSubstring("int32[] is not of dtype float32"));
  debugging::assert_integer(i);
  failure("assert_integer", [&] { debugging::assert_integer(f); });
  failure("assert_integer", [&] { debugging::assert_integer(constant(true)); });
  CHECK(debugging::assert_same_float_dtype({f, f}) == float32);
  CHECK(debugging::assert_same_float_dtype({}) == float32);
  CHECK(debugging::assert_same_float_dtype({}, float64) == float64);
  failure("assert_same_float_dtype", [&] { debugging::assert_same_float_dtype({f, cast(f, float64)}); });
  failure("assert_same_float_dtype", [&] { debugging::assert_same_float_dtype({f}, float64); });
  CHECK_THAT(failure("assert_same_float_dtype",
                     [&] {
                       debugging::assert_same_float_dtype({i, i});
                     }),
             ContainsSubstring("int32 is not a floating dtype"));
}

TEST_CASE("assert: comparisons say where and what") {
  const Tensor a = constant({{1.f, 5.f}, {3.f, 4.f}}), b = constant({2.f, 4.f});
  debugging::assert_less(a, 6);
  debugging::assert_less(0, a);
  debugging::assert_less_equal(a, 5);
  debugging::assert_greater(a, 0.5);
  debugging::assert_greater_equal(a, 1);
  debugging::assert_equal(a, a);
  debugging::assert_none_equal(a, Variable(a + 1));
  const std::string text = failure("assert_less", [&] { debugging::assert_less(a, b, {.message = "it must grow"}); });
  CHECK_THAT(text,
             Catch::Matchers::StartsWith("assert_less: it must grow: a < b does not hold at [0,1], the first of 3 "
                                         "failures among 4: 5.0 against 4.0\nfloat32[2,2] [[1.0, 5.0],\n [3.0, "
                                         "4.0]]\nfloat32[2] [2.0, 4.0]\n(at " __FILE__ ":"));
  CHECK_THAT(failure("assert_greater", [&] { debugging::assert_greater(constant(1), 2, {.name = "steps"}); }),
             Catch::Matchers::StartsWith("assert_greater 'steps': a > b does not hold: 1 against 2 (at " __FILE__));
  CHECK_THAT(failure("assert_less_equal", [&] { debugging::assert_less_equal(6, a); }), ContainsSubstring("a <= b"));
  failure("assert_greater_equal", [&] { debugging::assert_greater_equal(a, b); });
  failure("assert_none_equal", [&] { debugging::assert_none_equal(a, 3); });
  CHECK_THAT(failure("assert_equal",
                     [&] {
                       debugging::assert_equal(constant({"x", "y"}), constant("x"));
                     }),
             ContainsSubstring("at [1]") && ContainsSubstring("\"y\" against \"x\""));
  failure("assert_equal", [&] { debugging::assert_equal(constant(NAN), constant(NAN)); });
}

TEST_CASE("assert: operands that cannot be compared") {
  const Tensor a = ones({2, 3}), i = constant(1);
  CHECK_THAT(failure("assert_equal", [&] { debugging::assert_equal(a, ones({2}), {.message = "sizes"}); }),
             ContainsSubstring("sizes: shapes do not broadcast: float32[2,3] and float32[2]"));
  CHECK_THAT(failure("assert_equal", [&] { debugging::assert_equal(a, i); }), ContainsSubstring("dtypes differ"));
  failure("assert_equal", [&] { debugging::assert_equal(1, 2); });
  failure("assert", [&] { debugging::assert_less(a, 2, {.summarize = -2}); });
  CHECK_THROWS_AS(debugging::assert_less(constant("a"), constant("b")), errors::UnimplementedError);
  CHECK_THROWS_AS(debugging::Assert(a), errors::UnimplementedError);
}

TEST_CASE("assert: empty tensors pass, the summary is cut") {
  debugging::assert_less(ones({0, 3}), zeros({0, 3}));
  debugging::assert_positive(zeros({0}));
  debugging::Assert(constant({true, false})(Slice(0, 0)));
  const Tensor many = range(20) - 3;
  CHECK_THAT(failure("assert_non_negative", [&] { debugging::assert_non_negative(many); }),
             ContainsSubstring("[-3, -2, -1, ..., 14, 15, 16]"));
  CHECK_THAT(failure("assert_non_negative", [&] { debugging::assert_non_negative(many, {.summarize = 1}); }),
             ContainsSubstring("[-3, ..., 16]"));
  CHECK_THAT(failure("assert_non_negative", [&] { debugging::assert_non_negative(many, {.summarize = -1}); }),
             ContainsSubstring("-3, -2, -1, 0, 1, 2, 3, 4, 5"));
}

TEST_CASE("assert: signs") {
  const Tensor x = constant({-1, 0, 2});
  debugging::assert_positive(x + 2);
  debugging::assert_negative(x - 3);
  debugging::assert_non_negative(x + 1);
  debugging::assert_non_positive(x - 2);
  CHECK_THAT(failure("assert_positive", [&] { debugging::assert_positive(x); }),
             ContainsSubstring("x > 0 does not hold at [0], the first of 2 failures among 3: -1"));
  CHECK_THAT(failure("assert_negative", [&] { debugging::assert_negative(x); }),
             ContainsSubstring("x < 0 does not hold at [1]"));
  failure("assert_non_negative", [&] { debugging::assert_non_negative(x); });
  failure("assert_non_positive", [&] { debugging::assert_non_positive(x); });
  failure("assert_positive", [&] { debugging::assert_positive(constant(NAN)); });
}

TEST_CASE("assert: near and finite") {
  const Tensor x = constant({1.f, 100.f, inf});
  debugging::assert_near(x, x);
  debugging::assert_near(x, x * (1 + 5e-7));
  CHECK_THAT(failure("assert_near", [&] { debugging::assert_near(x, x * 1.01); }),
             ContainsSubstring("|a - b| <= 1.19e-06 + 1.19e-06 |b| does not hold at [0]"));
  debugging::assert_near(x, x * 1.01, {.rtol = 0.02});
  debugging::assert_near(cast(x, float64), 1, {.atol = INFINITY});
  failure("assert_near", [&] { debugging::assert_near(constant({1.f, inf}), 1, {.rtol = 0, .atol = 0}); });
  failure("assert_near", [&] { debugging::assert_near(constant(NAN), constant(NAN)); });
  CHECK_THAT(failure("assert_near", [&] { debugging::assert_near(constant(1), 1); }),
             ContainsSubstring("see assert_equal"));
  failure("assert_near", [&] { debugging::assert_near(x, x, {.rtol = -1}); });

  const Tensor finite = constant({1.f, 2.f});
  CHECK(debugging::assert_all_finite(finite).is_same(finite));
  CHECK_THAT(failure("assert_all_finite", [&] { debugging::assert_all_finite(x, {.message = "logits"}); }),
             ContainsSubstring("logits: x is finite does not hold at [2], the first of 1 failures among 3: inf"));
  GradientTape tape;
  tape.watch(finite);
  const Tensor y = square(debugging::assert_all_finite(finite));
  debugging::assert_near(y, y);
  CHECK(tape.gradient(y, finite).to_vector<float>() == std::vector<float>{2, 4});
}

TEST_CASE("assert: a condition with data") {
  debugging::Assert(constant(true));
  debugging::Assert(constant({true, true}), {constant(1)});
  CHECK(failure("assert",
                [] {
                  debugging::Assert(constant({true, false}), {constant({1, 2, 3}), constant("text")},
                                    {.message = "so it is"});
                })
            .starts_with("assert: so it is: the condition does not hold at [1], the first of 1 failures among 2\n"
                         "int32[3] [1, 2, 3]\nstring[] \"text\"\n(at " __FILE__ ":"));
}

TEST_CASE("assert: shapes") {
  const Tensor x = ones({2, 3}), y = ones({2, 3, 4}), s = constant(1);
  debugging::assert_shapes({{x, {"N", "Q"}}, {y, {"N", 3, "D"}}, {s, {}}});
  debugging::assert_shapes({{x, {"*", "Q"}}, {y, {"...", "Q", "."}}, {s, {"*"}}, {y, {none, none, 4}}});
  CHECK_THAT(failure("assert_shapes",
                     [&] {
                       debugging::assert_shapes({{x, {"N", 4}}}, {.message = "batch"});
                     }),
             ContainsSubstring("batch: shape 0, (2, 3), does not fit [N,4]: axis 1 of shape 0 is 3, not 4"));
  CHECK_THAT(failure("assert_shapes",
                     [&] {
                       debugging::assert_shapes({{x, {"N", "Q"}}, {y, {"*", "N"}}});
                     }),
             ContainsSubstring("axis 2 of shape 1 is 4, but N is 2 (axis 0 of shape 0)"));
  CHECK_THAT(failure("assert_shapes", [&] { debugging::assert_shapes({{x, {}}}); }), ContainsSubstring("rank 2"));
  failure("assert_shapes", [&] { debugging::assert_shapes({{s, {"*", 1}}}); });
  failure("assert_shapes", [&] { debugging::assert_shapes({{x, {"N,M", 1}}}); });
  failure("assert_shapes", [&] { debugging::assert_shapes({{x, {1, "*"}}}); });
}

TEST_CASE("assert: staged, it fires at each call though nothing uses it, in order") {
  const Variable seen(constant(0));
  Recorder recorder;
  recorder.trace({{{none}, float32, {}}}, [&](const List& in) -> List {
    seen.assign_add(constant(1));
    debugging::assert_positive(in[0], {.message = "traced"});
    seen.assign_add(constant(10));
    CHECK_THROWS_AS(debugging::assert_rank(in[0], 2), InvalidArgumentError);  // known at once
    return {};
  });
  CHECK(recorder.staged(assert_op) == 1);
  for (int call = 0; call < 3; ++call) recorder.replay({ones({4})});
  CHECK(seen.item<int>() == 33);
  for (int call = 0; call < 2; ++call)
    CHECK_THAT(failure("assert_positive",
                       [&] {
                         recorder.replay({constant({1.f, -2.f})});
                       }),
               ContainsSubstring("traced: x > 0 does not hold at [1]") && ContainsSubstring("-2.0"));
  CHECK(seen.item<int>() == 35);  // what precedes it has happened, what follows it has not
}

TEST_CASE("assert: staged shapes are checked at the call as far as they are open") {
  const std::vector<Spec> specs{{{none, 3}, float32, {}}, {{none}, float32, {}}};
  Recorder closed, recorder;
  closed.trace({{{2, 3}, float32, {}}}, [](const List& in) -> List {
    debugging::assert_shapes({{in[0], {"N", 3}}});
    return {};
  });
  CHECK(closed.ops() == 0);
  recorder.trace(specs, [](const List& in) -> List {
    debugging::assert_shapes({{in[0], {"N", 3}}, {in[1], {"N"}}}, {.message = "inputs"});
    CHECK_THROWS_AS(debugging::assert_shapes({{in[0], {"N", 4}}}), InvalidArgumentError);
    return {};
  });
  CHECK(recorder.staged(assert_shapes_op) == 1);
  recorder.replay({ones({2, 3}), ones({2})});
  recorder.replay({ones({5, 3}), ones({5})});
  CHECK_THAT(failure("assert_shapes",
                     [&] {
                       recorder.replay({ones({5, 3}), ones({4})});
                     }),
             ContainsSubstring("inputs: shape 1, (4,)") && ContainsSubstring("N is 5"));
}

TEST_CASE("assert: on another device") {
  const sim::Installed installed;
  const Tensor x = constant({1.f, -2.f}).to(sim::device);
  debugging::assert_less(x, 2);
  debugging::assert_shapes({{x, {2}}});
  CHECK_THAT(failure("assert_positive", [&] { debugging::assert_positive(x); }), ContainsSubstring("-2.0"));
  Recorder recorder;
  recorder.trace({x.spec()}, [](const List& in) -> List {
    debugging::assert_positive(in[0]);
    return {};
  });
  failure("assert_positive", [&] { recorder.replay({x}); });
  recorder.replay({abs(x)});
}

TEST_CASE("assert: a row with data that do not fit raises") {
  const rules::AssertAttrs attrs{"check", "claim", "", 3, true};
  const Tensor ok = constant({true, true}), data = ones({3});
  const Tensor* const in[] = {&ok, &data};
  CHECK_THROWS_AS(apply(assert_op, in, attrs), InvalidArgumentError);
  CHECK_THROWS_AS(apply(assert_shapes_op, {in + 1, 1}, rules::AssertShapesAttrs{"N", ""}), errors::UnimplementedError);
  const Tensor shapes = constant(std::vector<i64>{2});
  const Tensor* const one[] = {&shapes};
  CHECK_THROWS_AS(apply(assert_shapes_op, one, rules::AssertShapesAttrs{"N;M", ""}), InvalidArgumentError);
}
