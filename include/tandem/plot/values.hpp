// Values: the numbers of a picture.
#pragma once
#include <concepts>
#include <initializer_list>
#include <vector>

#include "tandem/core/variable.hpp"

namespace TANDEM_NS::plot {

/// Numbers to draw, in float64. Integers beyond 2^53 are rounded; NaN and infinities are allowed.
class TANDEM_API Values {
 public:
  Values() = default;
  Values(std::vector<double> numbers);
  Values(std::initializer_list<double> numbers);
  /// The elements in row-major order, of any shape and device.
  ///   t       a real dtype, half precision and bool_ among them
  ///   throws  errors::InvalidArgumentError for complex numbers, quantized numbers and strings; errors::TraceError for
  ///           a traced tensor
  Values(const Tensor& t);
  template <std::same_as<Variable> V>
  Values(const V& v) : Values(v.value()) {}

  std::size_t size() const { return numbers_.size(); }
  bool empty() const { return numbers_.empty(); }
  double operator[](std::size_t i) const { return numbers_[i]; }
  const std::vector<double>& numbers() const { return numbers_; }
  /// The tensor's sizes; the number of elements for those of a list.
  const Shape& shape() const { return shape_; }

 private:
  std::vector<double> numbers_;
  Shape shape_;
};

/// The exponential moving average that TensorBoard draws: s_i = w s_(i-1) + (1 - w) y_i, from s_0 = 0, divided by
/// 1 - w^i, so that the first values are not drawn towards 0. Values that are not finite are returned as they are and
/// do not count. Values that are all equal stay exactly so.
///   weight  w, in [0, 1): 0 returns the values
///   throws  errors::InvalidArgumentError for another weight
TANDEM_API std::vector<double> smoothed(const Values& y, double weight);

}  // namespace TANDEM_NS::plot
