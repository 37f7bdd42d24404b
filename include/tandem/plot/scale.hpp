// Axes as numbers: the range of the data, where a value lies in the picture, where the ticks are. For the definitions
// of plot/.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::plot::impl {

/// The smallest and the largest of the values that were added; those that are not finite do not count.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double x) {
    if (!(x - x == 0)) return;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  bool is_empty() const { return !(low <= high); }
};

/// A range to draw: larger by this share of it on both sides, and never empty or a single value. log: above 0.
TANDEM_API Range widened(Range range, double share, bool log);

struct Tick {
  double value;
  std::string label;
};
/// m * 10^e as a decimal: "0.25", "-30", "1e-7"; plain from 0.0001 to 999999. Zeros behind the decimal point are kept.
TANDEM_API std::string decimal_text(i64 m, int e);
/// Multiples of 1, 2 or 5 times a power of ten, at most about `most` (2 or more). The ends of a range that has none.
///   whole  whole numbers alone
TANDEM_API std::vector<Tick> linear_ticks(double low, double high, int most, bool whole = false);
/// Powers of ten, with their multiples by 2 and 5 if there is room; in a short range, as linear_ticks. low > 0.
TANDEM_API std::vector<Tick> log_ticks(double low, double high, int most);

/// Maps values to positions: range.low to begin, range.high to end.
class TANDEM_API Scale {
 public:
  Scale() = default;
  ///   range  low < high, both finite; above 0 if log
  Scale(Range range, bool log, double begin, double end);
  /// The position; NaN for what has none: NaN, infinities, and on a logarithmic axis what is not above 0.
  double operator()(double value) const;
  ///   whole  of an axis that is not logarithmic: see linear_ticks
  std::vector<Tick> ticks(int most, bool whole = false) const;
  const Range& range() const { return range_; }

 private:
  Range range_{0, 1};
  bool log_ = false;
  double begin_ = 0, end_ = 1;
};

}  // namespace TANDEM_NS::plot::impl
