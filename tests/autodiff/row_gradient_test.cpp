// Gradients of x[i] and of ranges of the leading axis: row-sparse, put together once, dense where they must be.
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::List, testing::traced, testing::wave;

namespace {

using Floats = std::vector<float>;
using Variables = std::vector<Variable>;

// The gradient to a Variable of 5 rows.
template <class F>
Gradient gradient_of(const F& f) {
  const Variable w(wave({5, 2}));
  GradientTape tape;
  return tape.gradient(f(w.read_value()), Variables{w})[0];
}
std::vector<i64> rows_of(const Gradient& g) { return cast(g.slices().indices, int64).to_vector<i64>(); }
// The tape's gradients are those of finite differences, of both orders, eager and traced.
template <class F>
void check_values(const F& f, const Shape& shape = {5, 2}) {
  const Tensor x = wave(shape, 0.3f, float64);
  CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
  const auto gradient = [&](const Tensor& at) {
    GradientTape tape;
    tape.watch(at);
    return tape.gradient(f(at), at);
  };
  CHECK(test::compute_gradient_error(gradient, x, {.delta = 1e-5}) < 1e-7);
  const Tensor eager = gradient(x);
  const auto compiled = function(gradient);
  const Tensor traced = compiled(x);
  CHECK(traced.to_vector<double>() == eager.to_vector<double>());
  Shape open = shape;
  open.set(0, none);
  const auto resizable = function(gradient, {.input_signature = {TensorSpec(open, float64)}});
  const Tensor resized = resizable(x);
  const std::vector<double> got = resized.to_vector<double>(), want = eager.to_vector<double>();
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("row gradients: ranges of several lengths that begin at the same row") {
  const auto f = [](const Tensor& x) {
    Tensor sum = reduce_sum(x[1]) * 100;
    for (int round = 0; round < 2; ++round)
      for (i64 end = 2; end <= 4; ++end) sum = sum + reduce_sum(x(Slice(1, end))) * static_cast<float>(end);
    return sum;
  };
  const Gradient g = gradient_of(f);
  // Row 1 is in all ranges: 100 + 2 (2 + 3 + 4); row 2 in two: 2 (3 + 4); row 3 in one: 2 * 4.
  CHECK(g.tensor().to_vector<float>() == Floats{0, 0, 118, 118, 14, 14, 8, 8, 0, 0});
}

TEST_CASE("row gradients: a row, a range") {
  const Gradient row = gradient_of([](const Tensor& x) { return reduce_sum(x[-2] * 3); });
  REQUIRE(row.is_sparse());
  CHECK(rows_of(row) == std::vector<i64>{3});
  CHECK(row.slices().values.to_vector<float>() == Floats{3, 3});
  CHECK(row.slices().dense_shape() == Shape{5, 2});
  CHECK(row.tensor().to_vector<float>() == Floats{0, 0, 0, 0, 0, 0, 3, 3, 0, 0});
  const Gradient range = gradient_of([](const Tensor& x) { return reduce_sum(x(Slice(1, 3))); });
  CHECK(rows_of(range) == std::vector<i64>{1, 2});
  const Gradient all =
      gradient_of([](const Tensor& x) { return reduce_sum(x(Slice(0, 2))) + reduce_sum(x(Slice(2, none))); });
  CHECK(!all.is_sparse());
  CHECK(all.tensor().to_vector<float>() == Floats(10, 1));
  CHECK(!gradient_of([](const Tensor& x) { return reduce_sum(x(Slice(none, none, 2))); }).is_sparse());
  CHECK(!gradient_of([](const Tensor& x) { return reduce_sum(x(Ellipsis, 0)); }).is_sparse());
}

TEST_CASE("row gradients: sums") {
  const Gradient apart = gradient_of([](const Tensor& x) { return reduce_sum(x[4]) + reduce_sum(x[0] * 2); });
  CHECK(rows_of(apart) == std::vector<i64>{0, 4});
  CHECK(apart.slices().values.to_vector<float>() == Floats{2, 2, 1, 1});
  // The same row again and again is one row.
  const Gradient twice = gradient_of([](const Tensor& x) {
    Tensor sum = reduce_sum(x[1]);
    for (int i = 0; i < 9; ++i) sum = sum + reduce_sum(x[1] + x[3]);
    return sum;
  });
  CHECK(rows_of(twice) == std::vector<i64>{1, 3});
  CHECK(twice.slices().values.to_vector<float>() == Floats{10, 10, 9, 9});
  // Ranges that overlap, of which a norm would be wrong and a lazy update done twice.
  const Gradient overlap =
      gradient_of([](const Tensor& x) { return reduce_sum(x(Slice(0, 2))) + reduce_sum(x(Slice(1, 3))); });
  CHECK(!overlap.is_sparse());
  CHECK(overlap.tensor().to_vector<float>() == Floats{1, 1, 2, 2, 1, 1, 0, 0, 0, 0});
  const Gradient whole =
      gradient_of([](const Tensor& x) { return reduce_sum(x[1]) + reduce_sum(x) + reduce_sum(x[2]); });
  CHECK(!whole.is_sparse());
  CHECK(whole.tensor().to_vector<float>() == Floats{1, 1, 2, 2, 2, 2, 1, 1, 1, 1});
}

TEST_CASE("row gradients: beside gathers, of either index dtype") {
  const Gradient g = gradient_of([](const Tensor& x) {
    return reduce_sum(gather(x, constant({4, 4}))) + reduce_sum(x[1]) + reduce_sum(gather(x, constant({i64{0}})));
  });
  REQUIRE(g.is_sparse());
  CHECK(g.slices().indices.dtype() == int64);
  CHECK(g.tensor().to_vector<float>() == Floats{1, 1, 1, 1, 0, 0, 0, 0, 2, 2});
}

TEST_CASE("row gradients: several reads of one Variable") {
  const Variable w(wave({3, 2}));
  GradientTape tape;
  Tensor sum = constant(0.f);
  for (i64 i = 0; i < 3; ++i) {
    w.assign(w.read_value() + 0.f);
    sum = sum + reduce_sum(w.read_value()[i]) * static_cast<float>(i + 1);
  }
  const Gradient g = tape.gradient(sum, Variables{w})[0];
  CHECK(!g.is_sparse());
  CHECK(g.tensor().to_vector<float>() == Floats{1, 1, 2, 2, 3, 3});
}

TEST_CASE("row gradients: values of both orders, eager, traced, with open rows") {
  check_values([](const Tensor& x) { return reduce_sum(exp(x[1]) * x[3] + x[3]); });
  check_values([](const Tensor& x) { return reduce_sum(x[0] * x[1] * x[2] * x[3] * exp(x[4])); });
  check_values([](const Tensor& x) { return reduce_sum(x[-1] * x[0] * x[-1]); });
  check_values([](const Tensor& x) { return reduce_sum(square(x(Slice(1, 4)))) + reduce_sum(exp(x(Slice(0, 2)))); });
  check_values([](const Tensor& x) { return reduce_sum(exp(x[2])) + reduce_sum(sin(x)) + reduce_sum(x[2] * x[0]); });
  check_values([](const Tensor& x) { return x[0] * x[2] * exp(x[1]); }, {5});
  check_values([](const Tensor& x) { return reduce_sum(square(x(Slice(1, 4))[1] * x[2])); });
  check_values([](const Tensor& x) { return reduce_sum(square(slice(x, {1, 0}, {2, 2})) * exp(x(Slice(2, 4)))); });
}

TEST_CASE("row gradients: inside and around control flow") {
  const Variable w(wave({4, 2}));
  const auto row = [&](i64 i) { return w.read_value()[i]; };
  const auto loss = [&](const Tensor& p) {
    return cond(
        p, [&] { return reduce_sum(square(row(0))); }, [&] { return reduce_sum(exp(row(2))) + reduce_sum(row(0)); });
  };
  const auto traced_loss = function(loss);
  for (const bool p : {true, false}) {
    GradientTape eager, outside;
    const Tensor a = loss(constant(p)), b = traced_loss(constant(p));
    CHECK(outside.gradient(b, Variables{w})[0].tensor().to_vector<float>() ==
          eager.gradient(a, Variables{w})[0].tensor().to_vector<float>());
  }
}

TEST_CASE("row gradients: a traced sum over all rows is one concat") {
  const Ref<Graph> g = traced({{{16, 3}, float32, {}}}, [](const List& a) {
    GradientTape tape;
    tape.watch(a[0]);
    Tensor h = zeros({3});
    for (i64 t = 0; t < 16; ++t) h = tanh(a[0][t] * h + a[0][t]);
    return List{tape.gradient(reduce_sum(h), a[0])};
  });
  CHECK(count(*g, concat_op) == 1);
  CHECK(count(*g, strided_slice_grad_op) == 0);
  CHECK(count(*g, slices_to_dense_op) == 0);
}

TEST_CASE("row gradients: what a sum holds is bounded by the tensor, not by the number of slices") {
  constexpr i64 columns = 1 << 16, row_bytes = columns * 4, rows = 4;
  const Tensor x = ones({rows, columns});
  const auto peak_of = [&](const auto& part) {
    GradientTape tape;
    tape.watch(x);
    Tensor sum = constant(0.f);
    for (i64 i = 0; i < 200; ++i) sum = sum + reduce_sum(part(i));
    const i64 before = memory::info().live;
    memory::reset_peak();
    const Tensor g = tape.gradient(sum, x);
    CHECK(g.shape() == x.shape());
    return memory::info().peak - before;
  };
  CHECK(peak_of([&](i64) { return x[1]; }) < 12 * row_bytes);
  CHECK(peak_of([&](i64 i) { return x(Slice(i % 3, i % 3 + 2)); }) < 30 * row_bytes);
}
