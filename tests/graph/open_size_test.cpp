// Ops that need a size which is open in a trace: the error says so and names the way out.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("pad: an axis of open size is not mirrored, the others are") {
  const FunctionOptions open{.input_signature = {TensorSpec({none, 3})}};
  const auto mirrored = [&](i64 rows, i64 columns) {
    return function(
        [=](const Tensor& x) {
          return pad(x, {{rows, rows}, {columns, columns}}, {.mode = PadMode::reflect});
        },
        open)(constant({{1.f, 2.f, 3.f}}));
  };
  CHECK(mirrored(0, 1).to_vector<float>() == std::vector<float>{2, 1, 2, 3, 2});
  CHECK_THROWS_AS(mirrored(1, 0), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(mirrored(1, 0), ContainsSubstring("axis 0 of float32[None,3]") &&
                                        ContainsSubstring("not known while the function is traced") &&
                                        ContainsSubstring("set_shape"));
}

TEST_CASE("set_shape: an error when it runs names no line of the library") {
  const auto f = function(
      [](Tensor x) {
        x.set_shape({2});
        return x + 1.f;
      },
      {.input_signature = {TensorSpec({none})}});
  CHECK(f(ones({2})).size() == 2);
  CHECK_THROWS_WITH(f(ones({3})), !ContainsSubstring("shape_of"));
}

TEST_CASE("group_norm: open channels, also of an empty batch or axis") {
  const auto norm = [](const Tensor& x) { return nn::group_norm(x, 2, {.axis = 1}); };
  const auto traced = function(norm, {.input_signature = {TensorSpec({none, none, none})}});
  for (const Shape& s : {Shape{2, 4, 3}, Shape{0, 4, 3}, Shape{2, 4, 0}, Shape{2, 0, 3}}) {
    CAPTURE(s);
    const Tensor x = reshape(range(static_cast<float>(s.size())), s);
    CHECK(traced(x).shape() == norm(x).shape());
    CHECK(traced(x).to_vector<float>() == norm(x).to_vector<float>());
  }
  CHECK_THROWS_AS(traced(ones({2, 3, 3})), errors::InvalidArgumentError);
}

TEST_CASE("adaptive_avg_pool: the error for open image sizes says what to do") {
  const auto f = function([](const Tensor& x) { return nn::adaptive_avg_pool(x, 2); },
                          {.input_signature = {TensorSpec({1, none, 4, 1})}});
  CHECK_THROWS_WITH(f(ones({1, 4, 4, 1})),
                    ContainsSubstring("float32[1,None,4,1]") && ContainsSubstring("input signature"));
  const auto batch = function([](const Tensor& x) { return nn::adaptive_avg_pool(x, 2); },
                              {.input_signature = {TensorSpec({none, 4, 4, 1})}});
  CHECK(batch(ones({3, 4, 4, 1})).shape() == Shape{3, 2, 2, 1});
}

TEST_CASE("shape, size and rank are known while tracing where the sizes are") {
  Shape traced, of_open;
  const auto f = [&](const Tensor& x) {
    const Tensor y = broadcast_to(ones({1}), shape(x));
    traced = y.shape();
    return y * cast(size(x), float32) + cast(rank(x), float32);
  };
  CHECK(function(f)(ones({1, 3})).to_vector<float>() == std::vector<float>{5, 5, 5});
  CHECK(traced == Shape{1, 3});
  CHECK(function(f, {.input_signature = {TensorSpec({none, 3})}})(ones({1, 3})).to_vector<float>() ==
        std::vector<float>{5, 5, 5});
  const auto named = function([](const Tensor& x) { return shape(x, {.name = "sizes"}); });
  CHECK_THAT(to_string(named.get_concrete_function(ones({2, 5}))->graph()), ContainsSubstring("# sizes"));
}

TEST_CASE("lstm and gru: second gradients over an open number of steps, with lengths and without") {
  const auto wave = [](const Shape& s, double phase) {
    return reshape(sin(cast(range(s.size()), float64) * 1.7 + phase), s);
  };
  const Tensor h = wave({2, 3}, 1), c = wave({2, 3}, 2), kernel = wave({4, 12}, 3), recurrent = wave({3, 12}, 4);
  const Tensor lengths = constant({3, 1});
  for (const bool is_lstm : {true, false})
    for (const bool bounded : {false, true}) {
      CAPTURE(is_lstm, bounded);
      const auto run = [&](const Tensor& x) {
        const Tensor n = bounded ? lengths : Tensor();
        if (is_lstm)
          return nn::lstm(x, {h, c}, kernel, recurrent, zeros({12}, {.dtype = float64}), {.sequence_length = n}).output;
        return nn::gru(x, h, kernel(Ellipsis, Slice(0, 9)), recurrent(Ellipsis, Slice(0, 9)),
                       zeros({2, 9}, {.dtype = float64}), {.sequence_length = n})
            .output;
      };
      const auto second = [&](const Tensor& x) {
        GradientTape outer;
        outer.watch(x);
        GradientTape inner;
        inner.watch(x);
        const Tensor y = square(run(x));
        return outer.gradient(square(inner.gradient(y, x)), x);
      };
      const auto traced = function(second, {.input_signature = {TensorSpec({none, 2, 4}, float64)}});
      const auto open = function(second, {.input_signature = {TensorSpec({none, none, 4}, float64)}});
      for (const i64 steps : {3, 5}) {
        const Tensor x = wave({steps, 2, 4}, 5), want = second(x);
        CHECK(reduce_max(abs(traced(x) - want)).item<double>() < 1e-12 * reduce_max(abs(want)).item<double>());
        CHECK(reduce_max(abs(open(x) - want)).item<double>() < 1e-12 * reduce_max(abs(want)).item<double>());
      }
      if (!bounded) CHECK(traced(wave({0, 2, 4}, 5)).shape() == Shape{0, 2, 4});
      CHECK(traced.trace_count() == 1);
    }
}
