// Numbers from tensors and lists; smoothing.
#include "tandem/plot/values.hpp"

#include <cmath>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_values_test {
using namespace tandem;
using plot::Values;
using testing::error_of;
using Numbers = std::vector<double>;

TEST_CASE("plot: values of all real dtypes") {
  const Tensor x = constant({{0.f, 1.f, 2.f}, {3.f, 100.f, 1.f}});
  for (const DType d :
       {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    INFO(name(d));
    const Values v(cast(x, d));
    CHECK(v.numbers() == Numbers{0, 1, 2, 3, 100, 1});
    CHECK(v.shape() == Shape{2, 3});
  }
  CHECK(Values(cast(x, bool_)).numbers() == Numbers{0, 1, 1, 1, 1, 1});
  CHECK(
      Values(constant(std::vector<i64>{std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()})).numbers() ==
      Numbers{-9223372036854775808., 9223372036854775808.});
  CHECK(Values(Variable(x)).numbers() == Numbers{0, 1, 2, 3, 100, 1});
  CHECK(Values({1, 2}).shape() == Shape{2});
  CHECK(Values(Numbers{}).empty());
}

TEST_CASE("plot: values that are not real numbers raise") {
  CHECK_THAT(error_of([] { Values(complex(ones({2}), ones({2}))); }),
             ContainsSubstring("complex64[2]") && ContainsSubstring("real(x)"));
  CHECK_THAT(error_of([] { Values(constant(std::vector<std::string>{"a"})); }), ContainsSubstring("string[1]"));
  const auto f = function([](const Tensor& t) {
    Values drawn(t);
    return t;
  });
  CHECK_THROWS_AS(f(ones({2})), errors::TraceError);
}

// TensorBoard's formula, written out: the weights of the past are (1 - w) w^k, divided by their sum.
double average_at(const Numbers& y, std::size_t i, double w) {
  double sum = 0, weights = 0;
  for (std::size_t k = 0; k <= i; ++k) {
    const double weight = (1 - w) * std::pow(w, static_cast<double>(i - k));
    sum += weight * y[k], weights += weight;
  }
  return sum / weights;
}

TEST_CASE("plot: smoothing is the average that TensorBoard draws") {
  const Numbers y{4, 1, 0, 2.5, -3, 7, 7, 1e3};
  for (const double w : {0.1, 0.6, 0.99}) {
    const Numbers s = plot::smoothed(y, w);
    REQUIRE(s.size() == y.size());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(s[i] == Approx(average_at(y, i, w)).epsilon(1e-12));
  }
  CHECK(plot::smoothed({1, 3}, 0.5) == Numbers{1, (0.25 + 1.5) / 0.75});
  CHECK(plot::smoothed(y, 0) == y);
  CHECK(plot::smoothed({0.1, 0.1, 0.1}, 0.97) == Numbers{0.1, 0.1, 0.1});
  CHECK(plot::smoothed(Numbers{}, 0.5).empty());
}

TEST_CASE("plot: smoothing passes over what is not finite") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Numbers s = plot::smoothed({nan, 1, inf, 3, -inf, 2}, 0.5), without = plot::smoothed({1, 3, 2}, 0.5);
  CHECK(std::isnan(s[0]));
  CHECK(s[2] == inf);
  CHECK(s[4] == -inf);
  CHECK(Numbers{s[1], s[3], s[5]} == without);
  for (const double w : {-0.1, 1., 2., nan})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
                 plot::smoothed({1, 2}, w);
               }),
               ContainsSubstring("plot::smoothed") && ContainsSubstring("[0, 1)"));
}

}  // namespace plot_values_test
