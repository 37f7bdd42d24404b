// Ranges, positions and ticks.
#include "tandem/plot/scale.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace plot_scale_test {
using namespace tandem;
using namespace tandem::plot::impl;
using Texts = std::vector<std::string>;
constexpr double largest_double = std::numeric_limits<double>::max(), inf = std::numeric_limits<double>::infinity();

Texts labels(const std::vector<Tick>& ticks) {
  Texts r;
  for (const Tick& t : ticks) r.push_back(t.label);
  return r;
}

TEST_CASE("plot: ticks are multiples of 1, 2 or 5 times a power of ten") {
  CHECK(labels(linear_ticks(0, 1, 6)) == Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels(linear_ticks(0, 10, 5)) == Texts{"0", "2", "4", "6", "8", "10"});
  CHECK(labels(linear_ticks(-1, 1, 4)) == Texts{"-1.0", "-0.5", "0", "0.5", "1.0"});
  CHECK(labels(linear_ticks(0.07, 0.11, 4)) == Texts{"0.07", "0.08", "0.09", "0.10", "0.11"});
  CHECK(labels(linear_ticks(0, 999999, 5)) == Texts{"0", "200000", "400000", "600000", "800000"});
  CHECK(labels(linear_ticks(0, 3e6, 3)) == Texts{"0", "1e6", "2e6", "3e6"});
  CHECK(labels(linear_ticks(1e-300, 3e-300, 4)) == Texts{"1e-300", "1.5e-300", "2e-300", "2.5e-300", "3e-300"});
  CHECK(labels(linear_ticks(-1e300, 1e300, 4)) == Texts{"-1e300", "-5e299", "0", "5e299", "1e300"});
  CHECK(labels(linear_ticks(1.05, 1.47, 2)) == Texts{"1.05", "1.47"});  // between two multiples of 0.5
  CHECK(labels(linear_ticks(-0.5, 1.5, 8, true)) == Texts{"0", "1"});
  CHECK(labels(linear_ticks(-0.5, 99.5, 5, true)) == labels(linear_ticks(-0.5, 99.5, 5)));
  for (const Tick& t : linear_ticks(0, 1, 11)) CHECK(t.value == std::strtod(t.label.c_str(), nullptr));
}

TEST_CASE("plot: ticks of every range are few, distinct, ascending, inside, and say their value") {
  const double edges[] = {
      -largest_double, -1e300, -9.3e18,  -12345.678,           -1,    -1e-300,       0, 5e-324, 1e-300, 1e-5, 0.3, 1,
      1 + 1e-15,       1e15,   1e15 + 1, 9223372036854775807., 1e300, largest_double};
  for (const double low : edges)
    for (const double high : edges)
      for (const int most : {2, 5, 9}) {
        if (!(low < high)) continue;
        INFO(low << " to " << high << ", " << most);
        const std::vector<Tick> ticks = linear_ticks(low, high, most);
        REQUIRE(ticks.size() <= static_cast<std::size_t>(most) + 1);
        REQUIRE(!ticks.empty());
        for (std::size_t i = 0; i < ticks.size(); ++i) {
          const double slack = 1e-8 * (high / 2 - low / 2);
          CHECK((ticks[i].value >= low - slack && ticks[i].value <= high + slack));
          CHECK(std::strtod(ticks[i].label.c_str(), nullptr) == ticks[i].value);
          if (i) CHECK(ticks[i - 1].value < ticks[i].value);
        }
      }
}

TEST_CASE("plot: ticks of logarithmic axes") {
  CHECK(labels(log_ticks(1, 1000, 6)) == Texts{"1", "10", "100", "1000"});
  CHECK(labels(log_ticks(0.02, 3, 9)) == Texts{"0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"});
  CHECK(labels(log_ticks(1e-300, 1e300, 7)) == Texts{"1e-300", "1e-200", "1e-100", "1", "1e100", "1e200", "1e300"});
  CHECK(labels(log_ticks(12, 14, 5)) == Texts{"12.0", "12.5", "13.0", "13.5", "14.0"});
  CHECK(!log_ticks(5e-324, largest_double, 2).empty());
}

TEST_CASE("plot: decimals") {
  CHECK(decimal_text(0, 5) == "0");
  CHECK(decimal_text(25, -2) == "0.25");
  CHECK(decimal_text(-1, -4) == "-0.0001");
  CHECK(decimal_text(1, -5) == "1e-5");
  CHECK(decimal_text(15, -6) == "1.5e-5");
  CHECK(decimal_text(120, -1) == "12.0");
  CHECK(decimal_text(12, 4) == "120000");
  CHECK(decimal_text(12, 5) == "1.2e6");
}

TEST_CASE("plot: a range leaves out what is not finite, and is never empty when it is widened") {
  Range r;
  CHECK(r.is_empty());
  for (const double x : {inf, -inf, std::nan("")}) r.add(x);
  CHECK(r.is_empty());
  r.add(3), r.add(-1);
  CHECK((r.low == -1 && r.high == 3));
  const Range wide = widened(r, 0.25, false);
  CHECK((wide.low == -2 && wide.high == 4));
  CHECK((widened({}, 0.1, false).low == 0 && widened({}, 0.1, true).low == 1));
  for (const double x : {0., 5e-324, -5e-324, 1., -7., 1e300, largest_double, -largest_double, 9223372036854775807.}) {
    const Range one = widened({x, x}, 0, false);
    INFO(x);
    CHECK((one.low < one.high && one.low <= x && x <= one.high));
    CHECK((std::isfinite(one.low) && std::isfinite(one.high)));
  }
  for (const double x : {5e-324, 1e-300, 1., largest_double}) {
    const Range one = widened({x, x}, 0.1, true);
    CHECK((one.low < one.high && one.low > 0 && std::isfinite(one.high)));
  }
}

TEST_CASE("plot: positions") {
  const Scale s({0, 10}, false, 100, 0);
  CHECK(s(0) == 100);
  CHECK(s(2.5) == 75);
  CHECK(s(10) == 0);
  CHECK(s(1e300) == 100 - 1e3 * 100);
  for (const double x : {inf, -inf, std::nan("")}) CHECK(std::isnan(s(x)));
  const Scale l({1, 10000}, true, 0, 400);
  CHECK(l(1) == Approx(0).margin(1e-9));
  CHECK(l(100) == Approx(200));
  CHECK(std::isnan(l(0)));
  CHECK(std::isnan(l(-1)));
  const Scale all({-largest_double, largest_double}, false, 0, 400);
  CHECK(all(0) == Approx(200));
  CHECK(all(largest_double) == Approx(400));
  const Scale tiny({0, 5e-324}, false, 0, 400);
  CHECK(tiny(5e-324) == 400);
  const Scale whole({-9223372036854775808., 9223372036854775807.}, false, 0, 100);
  CHECK(whole(0) == Approx(50));
}

}  // namespace plot_scale_test
