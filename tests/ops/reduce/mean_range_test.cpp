// reduce_mean of numbers whose sum is out of the range of their dtype.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace mean_range_test {
namespace {
double mean_of(const Tensor& x) {
  const auto f = function([](const Tensor& t) { return reduce_mean(t); });
  const double r = cast(reduce_mean(x), float64).item<double>();
  CHECK((cast(f(x), float64).item<double>() == r || std::isnan(r)));
  const Tensor rows = reduce_mean(reshape(x, {-1, 2}), 0), columns = reduce_mean(reshape(x, {2, -1}), 1);
  for (const Tensor& t : {rows, columns})
    for (const double v : cast(t, float64).to_vector<double>()) CHECK(v == r);
  return r;
}
}  // namespace

TEST_CASE("reduce_mean: half precision is summed in float32") {
  CHECK(mean_of(fill({100'000}, 65504.0, {.dtype = float16})) == 65504);  // NumPy's, too
  CHECK(mean_of(fill({100'000}, -60000.0, {.dtype = float16})) == -60000);
  CHECK(mean_of(fill({100'000}, 59904.0, {.dtype = bfloat16})) == 59904);
}

TEST_CASE("reduce_mean: integers of 8 to 32 bits are summed in 64") {
  CHECK(mean_of(fill({1000}, 127, {.dtype = int8})) == 127);
  CHECK(mean_of(fill({1000}, 255, {.dtype = uint8})) == 255);
  CHECK(mean_of(fill({1000}, -32768, {.dtype = int16})) == -32768);
  CHECK(mean_of(fill({100'000}, 2'000'000'000)) == 2'000'000'000);
}

TEST_CASE("reduce_mean: sums beyond the widest type are as in TensorFlow; a cast before helps") {
  const Tensor large = fill({4}, std::int64_t{1} << 62);
  CHECK(reduce_mean(large).item<std::int64_t>() == 0);
  CHECK(reduce_mean(cast(large, float64)).item<double>() == std::ldexp(1, 62));
  CHECK(mean_of(fill({1000}, 3e38f)) == std::numeric_limits<double>::infinity());
  CHECK(mean_of(fill({1000}, 3e38, {.dtype = bfloat16})) == std::numeric_limits<double>::infinity());
  CHECK(reduce_mean(cast(fill({1000}, 3e38f), float64)).item<double>() == Approx(3e38));
}

}  // namespace mean_range_test
