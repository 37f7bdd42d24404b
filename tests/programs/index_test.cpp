// The promises about layout, slicing and indexing, with their numbers.
#include <algorithm>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_index {

using namespace tandem;
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;

TEST_CASE("layout ops") {
  for (const i64 n : {0, 1, 7}) CHECK(reshape(zeros({n, 10, 32}), {n, 320}).shape() == Shape{n, 320});
  CHECK(reshape(zeros({5, 10, 32}), {5, -1}).shape() == Shape{5, 320});
  CHECK(where(constant({true, false}), constant({3, 3}), constant({2, 2})).to_vector<std::int32_t>() == Ints{3, 2});
  const Tensor places = where(constant({true, false, true}));
  CHECK((places.dtype() == int64 && places.shape() == Shape{2, 1}));
  CHECK(places.to_vector<i64>() == Longs{0, 2});
  CHECK(slice(range(6), {2}, {-1}).to_vector<std::int32_t>() == Ints{2, 3, 4, 5});
  CHECK_THROWS_AS(gather(range(3), constant({3})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(gather(range(3), constant({-1})), errors::InvalidArgumentError);
}

TEST_CASE("rows are views; their sum is the reduction's") {
  const Tensor x = random::stateless_uniform({500, 10}, {2, 2});
  Tensor by_index = zeros({10}), by_unstack = zeros({10});
  for (i64 i = 0; i < 500; ++i) by_index += x[i];
  for (const Tensor& row : unstack(x)) by_unstack += row;
  const Tensor sum = reduce_sum(x, 0);
  CHECK(test::max_error(by_index / sum, ones({10})) < 1e-6);
  CHECK(test::max_error(by_unstack / sum, ones({10})) < 1e-6);
  CHECK(x[3].raw() == static_cast<const char*>(x.raw()) + 3 * 10 * 4);
  CHECK(unstack(x)[499].raw() == static_cast<const char*>(x.raw()) + 499 * 10 * 4);
  for (const Tensor& view : {reshape(x, {5000}), expand_dims(x, 0), x(Slice(0, 7)), squeeze(expand_dims(x, 1))})
    CHECK(view.raw() == x.raw());
  Variable v(constant({{1.f, 2.f}, {3.f, 4.f}}));
  const Tensor r = v[0];
  v.assign_add(ones({2, 2}));
  CHECK(r.to_vector<float>() == Floats{1, 2});
}

// output[i] = gather(x[i], indices[i]) by loops, for x [b, n] or [b, n, c].
Floats loop_gather(const Tensor& x, const Tensor& indices) {
  Floats r;
  for (i64 b = 0; b < x.shape()[0]; ++b)
    for (const i64 i : indices[b].to_vector<i64>()) {
      const Floats row = x[b][i].to_vector<float>();
      r.insert(r.end(), row.begin(), row.end());
    }
  return r;
}

TEST_CASE("gathers equal loops; axes are collapsed, also of unknown size") {
  const Tensor indices = constant(Longs{2, 0, 1, 1, 2, 2}, {.shape = {2, 3}});
  for (const Shape& s : {Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 3, 2, 2}}) {
    const Tensor x = random::normal(Dims(s), {.seed = s.rank()});
    CHECK(nn::batch_gather(x, indices).to_vector<float>() == loop_gather(x, indices));
    CHECK(gather(x, indices, {.batch_dims = 1}).to_vector<float>() == loop_gather(x, indices));
    const Tensor wide = cast(x, float64);
    CHECK(test::compute_gradient_error([&](const Tensor& t) { return nn::batch_gather(square(t), indices); }, wide,
                                       {.delta = 1e-5}) < 1e-6);
    CHECK(test::compute_gradient_error(
              [&](const Tensor& t) {
                return gather(square(t), constant({2, 2, 0}), 1);
              },
              wide, {.delta = 1e-5}) < 1e-6);
  }
  const Tensor m = constant({{3.f, 1.f, 2.f}, {9.f, 7.f, 8.f}});
  CHECK(take_along_axis(m, argsort(m), -1).to_vector<float>() == Floats{1, 2, 3, 7, 8, 9});
  auto traced = function(
      [](const Tensor& x) {
        return collapse_dims(x, {{0}, {1, 2}});
      },
      {.input_signature = {TensorSpec({none, 10, 32}, float32)}});
  for (const i64 n : {0, 1, 7}) {
    CHECK(collapse_dims(zeros({n, 10, 32}), {{0}, {1, 2}}).shape() == Shape{n, 320});
    CHECK(traced(zeros({n, 10, 32})).shape() == Shape{n, 320});
  }
}

TEST_CASE("lengths") {
  const Tensor x = constant({{1, 2, 3, 4}, {5, 6, 7, 8}});
  for (const DType d : {int32, int64})
    CHECK(reverse_sequence(x, cast(constant({2, 4}), d)).to_vector<std::int32_t>() == Ints{2, 1, 3, 4, 8, 7, 6, 5});
  CHECK(sequence_mask(constant({1, 3, 2}), 5).to_vector<bool>() == std::vector<bool>{true, false, false, false, false,
                                                                                     true, true, true, false, false,
                                                                                     true, true, false, false, false});
  const Tensor values = constant({{1.f, 2.f}, {3.f, 5.f}}), mask = constant({{0.f, 0.f}, {1.f, 1.f}});
  GradientTape tape;
  tape.watch(values);
  const Tensor mean = nn::masked_mean(values, mask, {.axis = 1});
  CHECK(mean.to_vector<float>() == Floats{0, 4});
  CHECK(tape.gradient(mean, values).to_vector<float>() == Floats{0, 0, .5, .5});
}

}  // namespace features_index
