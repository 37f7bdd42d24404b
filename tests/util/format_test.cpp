// Numbers as text: rounded, and with a number of decimals, as printf writes them with the point of the C locale.
#include "tandem/util/format.hpp"

#include <cstdio>
#include <limits>

#include "tests/support/catch.hpp"

using tandem::detail::fixed_text;
using tandem::detail::rounded_text;

namespace {
std::string printed(const char* format, int digits, double x) {
  char text[400];
  std::snprintf(text, sizeof text, format, digits, x);
  return text;
}
}  // namespace

TEST_CASE("format: numbers as printf writes them") {
  const double largest = std::numeric_limits<double>::max(), infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0., -0., 0.05, 0.15, 0.25, 1.5, -2.5, 9.95, 1e-5, 123456.789, 1e15, 1e16, largest, -largest,
                         std::numeric_limits<double>::denorm_min(), infinity, -infinity})
    for (const int digits : {0, 1, 3, 6, 17}) {
      CAPTURE(x, digits);
      CHECK(fixed_text(x, digits) == printed("%.*f", digits, x));
      CHECK(rounded_text(x, digits) == printed("%.*g", digits, x));
    }
  CHECK(fixed_text(std::numeric_limits<double>::quiet_NaN(), 2) == "nan");
  CHECK(fixed_text(-std::numeric_limits<double>::quiet_NaN(), 2) == "nan");
}
