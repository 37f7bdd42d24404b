// Definitions of plot/scale.hpp. A tick is a whole number times a power of ten, and its value is read from that text:
// so it is the double next to what its label says, from 1e-300 to 1e300.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>

#include "tandem/plot/scale.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot::impl {

inline constexpr double largest = std::numeric_limits<double>::max(),
                        smallest = std::numeric_limits<double>::denorm_min();

TANDEM_INLINE Range widened(Range r, double share, bool log) {
  if (r.is_empty()) return log ? Range{1, 10} : Range{0, 1};
  if (log) {
    const double a = std::log10(r.low), b = std::log10(r.high), more = b > a ? share * (b - a) : 0.5;
    return {std::max(std::pow(10, a - more), smallest), std::min(std::pow(10, b + more), largest)};
  }
  // Halves, because the difference of two doubles may be infinite.
  const double more = r.high > r.low ? 2 * share * (r.high / 2 - r.low / 2) : 0.1 * std::abs(r.high);
  const Range wide{std::max(r.low - more, -largest), std::min(r.high + more, largest)};
  return wide.high > wide.low ? wide : Range{r.low - 1, r.high + 1};
}

TANDEM_INLINE std::string decimal_text(i64 m, int e) {
  if (m == 0) return "0";
  std::string digits = std::to_string(m < 0 ? -m : m);
  const int power = static_cast<int>(digits.size()) - 1 + e;
  const bool plain = power >= -4 && power <= 5;
  if (!plain || e >= 0)
    for (; digits.size() > 1 && digits.back() == '0'; ++e) digits.pop_back();
  if (!plain) {
    if (digits.size() > 1) digits.insert(1, 1, '.');
    digits += "e" + std::to_string(power);
  } else if (e >= 0) {
    digits.append(static_cast<std::size_t>(e), '0');
  } else {
    const auto decimals = static_cast<std::size_t>(-e);
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, 1, '.');
  }
  return (m < 0 ? "-" : "") + digits;
}
// The double next to m * 10^e; NaN beyond the largest one.
inline double decimal_value(i64 m, int e) {
  const std::string text = std::to_string(m) + "e" + std::to_string(e);
  double x = 0;
  const bool fits = std::from_chars(text.data(), text.data() + text.size(), x).ec == std::errc();
  return fits ? x : std::numeric_limits<double>::quiet_NaN();
}

TANDEM_INLINE std::vector<Tick> linear_ticks(double low, double high, int most, bool whole) {
  const double raw = high / most - low / most;  // which is finite
  const std::vector<Tick> ends{{low, tandem::detail::shortest_text(low)}, {high, tandem::detail::shortest_text(high)}};
  if (!(raw > 1e-14 * std::max(std::abs(low), std::abs(high))) || raw < 1e-307) return ends;
  int e = static_cast<int>(std::floor(std::log10(raw)));
  i64 m = 1;
  for (const i64 next : {2, 5, 10})
    if (decimal_value(m, e) < raw * (1 - 1e-9)) m = next;
  if (m == 10) m = 1, ++e;
  if (whole && e < 0) m = 1, e = 0;
  const double step = decimal_value(m, e);
  if (std::isnan(step)) return ends;  // of the range of all doubles
  std::vector<Tick> ticks;
  const auto last = static_cast<i64>(std::floor(high / step + 1e-9));
  for (auto k = static_cast<i64>(std::ceil(low / step - 1e-9)); k <= last; ++k)
    if (const double value = decimal_value(k * m, e); !std::isnan(value))
      ticks.push_back({value, decimal_text(k * m, e)});
  return ticks.empty() ? ends : ticks;
}

TANDEM_INLINE std::vector<Tick> log_ticks(double low, double high, int most) {
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  const auto within = [&](int stride, std::initializer_list<i64> multiples) {
    std::vector<Tick> ticks;
    for (int e = first; e <= last; ++e)
      for (const i64 m : multiples)
        if (const double v = decimal_value(m, e); e % stride == 0 && v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9))
          ticks.push_back({v, decimal_text(m, e)});
    return ticks;
  };
  if (std::vector<Tick> ticks = within(1, {1, 2, 5});
      ticks.size() >= 3 && ticks.size() <= static_cast<std::size_t>(most))
    return ticks;
  for (const int stride : {1, 2, 5, 10, 20, 50, 100, 200, 500})
    if (std::vector<Tick> ticks = within(stride, {1});
        ticks.size() >= 2 && ticks.size() <= static_cast<std::size_t>(most))
      return ticks;
  return linear_ticks(low, high, most);
}

TANDEM_INLINE Scale::Scale(Range range, bool log, double begin, double end)
    : range_(range), log_(log), begin_(begin), end_(end) {}
TANDEM_INLINE double Scale::operator()(double value) const {
  constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(value) || (log_ && value <= 0)) return nowhere;
  double low = range_.low, high = range_.high;
  if (log_) low = std::log10(low), high = std::log10(high), value = std::log10(value);
  else if (!std::isfinite(high - low)) low /= 4, high /= 4, value /= 4;
  // What is far outside stays finite.
  const double share = std::clamp((value - low) / (high - low), -1e3, 1e3);
  return begin_ + share * (end_ - begin_);
}
TANDEM_INLINE std::vector<Tick> Scale::ticks(int most, bool whole) const {
  return log_ ? log_ticks(range_.low, range_.high, most) : linear_ticks(range_.low, range_.high, most, whole);
}

}  // namespace TANDEM_NS::plot::impl
