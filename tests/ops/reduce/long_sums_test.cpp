// Sums of millions of float32: the error relative to the sum of magnitudes stays below 1e-6 (16 units in the last
// place of 1) whatever the number of terms, for every op that accumulates. Compared with float64; 0.1 rounds in the
// same direction each time, so that a plain loop over 5 million of them is 4 % off.
#include <algorithm>
#include <cmath>

#include "loops.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace long_sums_test {
using namespace tandem;
using Sum = Tensor (*)(const Tensor& x);

constexpr i64 n = 5'000'000;
constexpr double bound = 1e-6;

double error_of(const Tensor& y, const Tensor& exact, const Tensor& size) {
  REQUIRE(y.shape() == exact.shape());
  return reduce_max(abs(cast(y, float64) - exact) / maximum(size, 1e-300)).item<double>();
}
Tensor terms(int kind) {
  if (kind == 0) return zeros({n}) + 0.1f;
  return kind == 1 ? random::stateless_uniform({n}, {3, 4}) : random::stateless_normal({n}, {5, 6});
}
struct Named {
  const char* name;
  Sum sum;
};
void check(std::initializer_list<Named> sums, double most = bound) {
  for (int kind = 0; kind < 3; ++kind) {
    const Tensor x = terms(kind), wide = cast(x, float64), size = abs(wide);
    for (const Named& s : sums) {
      INFO(s.name << " of numbers of kind " << kind);
      CHECK(error_of(s.sum(x), s.sum(wide), s.sum(size)) <= most);
    }
  }
}
Tensor gradient_of(Tensor (*f)(const Tensor& parameter, const Tensor& x), const Shape& parameter, const Tensor& x) {
  const Tensor p = ones(Dims(parameter), {.dtype = x.dtype()});
  GradientTape tape;
  tape.watch(p);
  const Tensor y = f(p, x);
  return tape.gradient(y, p);
}
Tensor four_ids() { return cast(floormod(range(n) * 7, 4), int32); }

TEST_CASE("long sums: float64 scans and sums agree with loops in long double") {
  const Tensor x = cast(terms(1), float64);
  long double sum = 0;
  for (const double v : x.to_vector<double>()) sum += static_cast<long double>(v);
  const auto close = [&](const Tensor& y) {
    return std::abs(y.item<double>() / static_cast<double>(sum) - 1) <= 1e-15;
  };
  CHECK(close(reduce_sum(x)));
  CHECK(close(cumsum(x)(n - 1)));
  CHECK(close(reduce_sum(reduce_sum(reshape(x, {n / 5, 5}), {.axis = 0}))));
}
TEST_CASE("long sums: scans") {
  check({{"cumsum", [](const Tensor& x) { return cumsum(x); }},
         {"reverse", [](const Tensor& x) { return cumsum(x, {.exclusive = true, .reverse = true}); }},
         {"4 columns",
          [](const Tensor& x) {
            return cumsum(reshape(x, {n / 4, 4}));
          }},
         {"1000 columns",
          [](const Tensor& x) {
            return cumsum(reshape(x, {n / 1000, 1000}), {.reverse = true});
          }},
         {"gradient", [](const Tensor& x) {
            return gradient_of([](const Tensor& p, const Tensor& w) { return reduce_sum(cumsum(p) * w); }, {n}, x);
          }}});
}
TEST_CASE("long sums: complex and half precision") {
  const Tensor x = terms(0), y = cumsum(complex(x, x));
  CHECK(error_of(real(y), cumsum(cast(x, float64)), cumsum(cast(x, float64))) <= bound);
  CHECK(error_of(imag(y), cumsum(cast(x, float64)), cumsum(cast(x, float64))) <= bound);
  const Tensor half = cast(x, bfloat16), wide = cast(half, float64);
  const Tensor sums[] = {cast(cumsum(half), float64), cumsum(wide)};
  CHECK(error_of(sums[0], sums[1], sums[1]) <= 1. / 256);  // rounded once, to 8 bits
}
TEST_CASE("long sums: a running sum meets infinity and NaN as a plain one") {
  std::vector<float> v(10000, 1);
  v[5000] = INFINITY;
  const auto y = cumsum(constant(v)).to_vector<float>();
  CHECK(y[4999] == 5000);
  CHECK((y[5000] == INFINITY && y[9999] == INFINITY));
  CHECK(reduce_sum(constant(v)).item<float>() == INFINITY);
  const auto column = cumsum(tile(expand_dims(constant(v), 1), {1, 3})).to_vector<float>();
  CHECK((column[3 * 4999] == 5000 && column[3 * 9999 + 2] == INFINITY));
  CHECK(reduce_sum(tile(expand_dims(constant(v), 1), {1, 3}), {.axis = 0})(1).item<float>() == INFINITY);
  v[7000] = -INFINITY;
  const auto z = cumsum(constant(v)).to_vector<float>();
  CHECK((z[6999] == INFINITY && std::isnan(z[7000]) && std::isnan(z[9999])));
  CHECK(std::isnan(reduce_sum(constant(v)).item<float>()));
  CHECK(reduce_sum(constant(std::vector<float>(10000, 1e36f))).item<float>() == INFINITY);
}
TEST_CASE("long sums: the running logarithm of a sum") {
  for (int kind = 0; kind < 3; ++kind) {
    const Tensor x = terms(kind), y = cumulative_logsumexp(cast(x, float64));
    INFO("numbers of kind " << kind);
    CHECK(reduce_max(abs(cast(cumulative_logsumexp(x), float64) - y) / maximum(abs(y), 1.)).item<double>() <= bound);
  }
}
TEST_CASE("long sums: reductions along every axis") {
  check({{"sum", [](const Tensor& x) { return reduce_sum(x); }},
         {"mean", [](const Tensor& x) { return reduce_mean(x); }},
         {"rows",
          [](const Tensor& x) {
            return reduce_sum(reshape(x, {5, n / 5}), {.axis = 1});
          }},
         {"4 columns",
          [](const Tensor& x) {
            return reduce_sum(reshape(x, {n / 4, 4}), {.axis = 0});
          }},
         {"50 columns",
          [](const Tensor& x) {
            return reduce_mean(reshape(x, {n / 50, 50}), {.axis = 0});
          }},
         {"1000 columns",
          [](const Tensor& x) {
            return reduce_sum(reshape(x, {n / 1000, 1000}), {.axis = 0});
          }},
         {"many segments",
          [](const Tensor& x) {
            return reduce_sum(reshape(x, {n / 20, 4, 5}), {.axis = {0, 2}});
          }},
         {"many runs of rows",
          [](const Tensor& x) {
            return reduce_sum(reshape(x, {n / 40, 4, 2, 5}), {.axis = {0, 2}});
          }},
         {"norm", [](const Tensor& x) { return reduce_euclidean_norm(x); }},
         {"squares", [](const Tensor& x) { return nn::moments(x * x, {0}).mean; }},
         {"add_n", [](const Tensor& x) {
            return add_n(unstack(reshape(slice(x, {0}, {100'000}), {1000, 100})));
          }}});
  for (int kind = 1; kind < 3; ++kind) {
    const Tensor x = terms(kind), wide = cast(x, float64);
    CHECK(error_of(reduce_variance(x), reduce_variance(wide), reduce_variance(wide)) <= bound);
  }
}
TEST_CASE("long sums: segments, scatters and gathers' gradients") {
  check({{"unsorted, 1", [](const Tensor& x) { return unsorted_segment_sum(x, zeros({n}, {.dtype = int32}), 1); }},
         {"unsorted, 4", [](const Tensor& x) { return unsorted_segment_sum(x, four_ids(), 4); }},
         {"one of a million",
          [](const Tensor& x) { return unsorted_segment_sum(x, zeros({n}, {.dtype = int32}) + 7, 1'000'000); }},
         {"sorted", [](const Tensor& x) { return segment_sum(x, cast(range(n) / 500'000, int32)); }},
         {"rows of 40",
          [](const Tensor& x) {
            return unsorted_segment_sum(reshape(x, {n / 40, 40}), floormod(range(n / 40), 3), 3);
          }},
         {"scatter_nd", [](const Tensor& x) { return scatter_nd(expand_dims(four_ids(), 1), x, {4}); }},
         {"scatter_add",
          [](const Tensor& x) {
            return tensor_scatter_nd_add(ones({4}, {.dtype = x.dtype()}), expand_dims(four_ids(), 1), x);
          }},
         {"bincount", [](const Tensor& x) { return bincount(four_ids(), {.weights = x}); }},
         {"gather",
          [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) { return reduce_sum(gather(p, four_ids()) * expand_dims(w, 1)); },
                {4, 2}, x);
          }},
         {"take_along_axis", [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) { return reduce_sum(take_along_axis(p, four_ids(), 0) * w); }, {4},
                x);
          }}});
}
TEST_CASE("long sums: counts pass 2^24") {
  const Tensor ones_of_one = zeros({20'000'000}, {.dtype = int32});
  CHECK(bincount(ones_of_one, {.dtype = float32})(0).item<float>() == 20'000'000);
  Tensor mostly = ones({20'000'000}, {.dtype = int8});
  mostly = tensor_scatter_nd_update(mostly, constant({{5}}), constant({0}, int8));
  CHECK(nn::zero_fraction(mostly).item<float>() == 1.f / 20'000'000);
}
// A product is summed in the order of k in blocks of up to 512, which are added to the result one by one: the n / 512
// roundings do add up if they go the same way, and so do those of a block where lanes are few.
TEST_CASE("long sums: products and filters") {
  check({{"row times column",
          [](const Tensor& x) {
            return matmul(reshape(x, {1, n}), ones({n, 1}, {.dtype = x.dtype()}));
          }},
         {"8 columns",
          [](const Tensor& x) {
            return matmul(reshape(x, {n / 8, 8}), ones({n / 8, 8}, {.dtype = x.dtype()}), {.transpose_a = true});
          }},
         {"filter",
          [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) {
                  return nn::conv2d(reshape(w, {5, 1000, 1000, 1}), p);
                },
                {3, 3, 1, 2}, x);
          }}},
        4e-5);
}
TEST_CASE("long sums: biases and normalization") {
  check({{"bias",
          [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) {
                  const Tensor z = reshape(w, {n / 5, 5});
                  return reduce_sum(nn::bias_add(z, p) * z);
                },
                {5}, x);
          }},
         {"batch normalization",
          [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) {
                  const Tensor z = reshape(w, {n / 5, 1, 1, 5});
                  return reduce_sum(nn::fused_batch_norm(z, ones({5}, {.dtype = p.dtype()}), p).y * z);
                },
                {5}, x);
          }},
         {"layer normalization", [](const Tensor& x) {
            return gradient_of(
                [](const Tensor& p, const Tensor& w) {
                  const Tensor z = reshape(w, {n / 5, 5});
                  return reduce_sum(nn::layer_norm(z, {.offset = p}) * z);
                },
                {5}, x);
          }}});
}
TEST_CASE("long sums: softmax over millions of classes") {
  for (int kind = 0; kind < 3; ++kind) {
    const Tensor x = terms(kind), wide = cast(x, float64), y = nn::softmax(wide);
    INFO("numbers of kind " << kind);
    CHECK(error_of(nn::softmax(x), y, y) <= bound);
  }
}

}  // namespace long_sums_test
