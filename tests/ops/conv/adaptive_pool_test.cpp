// Pooling to a given size, and over whole images: loops, gradients, errors.
#include "tandem/ops/conv/adaptive_pool.hpp"

#include <algorithm>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {
using Floats = std::vector<float>;

// [n, h, w, c] by loops over the windows of the definition.
Tensor loop(const Tensor& x, i64 oh, i64 ow, bool maximum) {
  const i64 n = x.shape()[0], h = x.shape()[1], w = x.shape()[2], c = x.shape()[3];
  std::vector<double> r;
  for (i64 b = 0; b < n; ++b)
    for (i64 i = 0; i < oh; ++i)
      for (i64 j = 0; j < ow; ++j)
        for (i64 k = 0; k < c; ++k) {
          double sum = 0, top = -1e300;
          int count = 0;
          for (i64 y = i * h / oh; y < ((i + 1) * h + oh - 1) / oh; ++y)
            for (i64 z = j * w / ow; z < ((j + 1) * w + ow - 1) / ow; ++z, ++count) {
              const double v = x.at<double>({b, y, z, k});
              sum += v, top = std::max(top, v);
            }
          r.push_back(maximum ? top : sum / count);
        }
  return constant(r, {.shape = {n, oh, ow, c}});
}
}  // namespace

TEST_CASE("adaptive pooling equals loops, whatever divides, in both layouts") {
  const Tensor x = random::normal({2, 7, 6, 3}, {.dtype = float64, .seed = 1}), planes = transpose(x, {0, 3, 1, 2});
  for (const auto& size : {std::pair{1, 1}, {7, 6}, {3, 2}, {2, 4}, {5, 6}, {7, 5}}) {
    const int oh = size.first, ow = size.second;
    CAPTURE(oh, ow);
    for (const bool maximum : {false, true}) {
      const auto f = maximum ? &nn::adaptive_max_pool : &nn::adaptive_avg_pool;
      const Tensor want = loop(x, oh, ow, maximum), got = f(x, {oh, ow}, {});
      REQUIRE(got.shape() == want.shape());
      CHECK(test::max_error(got, want) < 1e-14);
      const Tensor other = f(planes, {oh, ow}, {.data_format = DataFormat::nchw});
      CHECK(test::max_error(transpose(other, {0, 2, 3, 1}), want) < 1e-14);
      CHECK(test::compute_gradient_error(
                [&](const Tensor& t) {
                  return f(t, {oh, ow}, {});
                },
                x, {.delta = 1e-5}) < 1e-6);
    }
  }
  CHECK(nn::adaptive_max_pool(reshape(range(5), {1, 5, 1}), 2).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 4});
  CHECK(nn::adaptive_avg_pool(ones({2, 4, 5, 6, 1}), 3).shape() == Shape{2, 3, 3, 3, 1});
}

TEST_CASE("adaptive_max_pool: the first of equal maxima gets the gradient") {
  const Tensor x = zeros({1, 3, 3, 1});
  GradientTape tape;
  tape.watch(x);
  const Tensor g = tape.gradient(nn::adaptive_max_pool(x, 1), x);
  CHECK(g.to_vector<float>() == Floats{1, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("global pooling") {
  const Tensor x = reshape(range(0.f, 24.f), {1, 2, 3, 4});
  CHECK(nn::global_avg_pool(x).to_vector<float>() == Floats{10, 11, 12, 13});
  CHECK(nn::global_max_pool(x).to_vector<float>() == Floats{20, 21, 22, 23});
  CHECK(nn::global_avg_pool(x, {.data_format = DataFormat::nchw}).to_vector<float>() == Floats{5.5, 17.5});
  CHECK(nn::global_max_pool(x, {.keepdims = true}).shape() == Shape{1, 1, 1, 4});
  CHECK(nn::global_avg_pool(x, {.data_format = DataFormat::nchw, .keepdims = true}).shape() == Shape{1, 2, 1, 1});
  auto traced = function([](const Tensor& t) { return nn::global_avg_pool(t); },
                         {.input_signature = {TensorSpec({none, none, none, 4}, float32)}});
  CHECK(traced(x).to_vector<float>() == Floats{10, 11, 12, 13});
}

TEST_CASE("adaptive and global pooling: errors") {
  const auto invalid = [](const auto& f) { return error_of<errors::InvalidArgumentError>(f); };
  const Tensor x = ones({1, 4, 4, 2});
  CHECK_THAT(invalid([&] { nn::adaptive_avg_pool(x, 5); }),
             ContainsSubstring("adaptive_avg_pool") && ContainsSubstring("[1, 4]"));
  CHECK_THAT(invalid([&] { nn::adaptive_max_pool(x, 0); }), ContainsSubstring("[1, 4]"));
  CHECK_THAT(invalid([&] { nn::adaptive_avg_pool(x, {1, 2, 3}); }), ContainsSubstring("3 sizes"));
  CHECK_THAT(invalid([&] { nn::adaptive_avg_pool(ones({4, 4}), 2); }), ContainsSubstring("rank"));
  CHECK_THAT(invalid([&] { nn::global_avg_pool(ones({4, 4})); }), ContainsSubstring("spatial"));
  CHECK_THAT(error_of([&] { nn::adaptive_avg_pool(ones({1, 4, 4, 2}, int32), 2); }), ContainsSubstring("int32"));
  CHECK_THROWS_WITH(function([](const Tensor& t) { return nn::adaptive_avg_pool(t, 2); },
                             {.input_signature = {TensorSpec({none, none, 4, 1}, float32)}})(ones({1, 4, 4, 1})),
                    ContainsSubstring("must be known"));
}
