// What a metric computes: Metric::Rule and the rule of means. For the definitions of metrics.
#pragma once
#include <optional>

#include "tandem/losses/pair.hpp"
#include "tandem/metrics/metric.hpp"
#include "tandem/ops/cast.hpp"

namespace TANDEM_NS {

/// The implementation of a metric, without its state.
struct TANDEM_API metrics::Metric::Rule : Opaque {
  const char* kind() const override { return "metric"; }
  /// Creates the Variables of the state that do not depend on data.
  virtual void build(const Metric&) const = 0;
  virtual void update(const Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& weights) const = 0;
  virtual Tensor result(const Metric& m) const = 0;

 protected:
  static const Variable& state(const Metric& m, std::size_t i) { return m.variable(i); }
  /// Adds a batch's sums to all Variables of the state, in their order: computed before the first one changes, so that
  /// an error leaves the state as it was.
  static void add(const Metric& m, std::initializer_list<Tensor> sums) {
    std::size_t i = 0;
    for (const Tensor& sum : sums) state(m, i++).assign_add(sum);
  }
  static bool is_built(const Metric& m) { return m.is_built(); }
  static const char* name_of(const Metric& m) { return m.class_name_.c_str(); }
  /// Creates float64 zeros under these names, once.
  static void build_zeros(const Metric& m, std::initializer_list<const char*> names, const Shape& shape);
};

namespace detail {

enum class Finish : std::uint8_t { mean, sum, root, exponential };
/// The mean of values, or of a function of labels and predictions.
struct MeanOptions {
  std::optional<PairFunction> function = {};
  bool by_element = false;  ///< y of rank 1 are examples, not one example
  Finish finish = Finish::mean;
  Ignored ignored = {};
  bool wide = false;  ///< predictions become float64, so that squares of float32 do not overflow
};
TANDEM_API Ref<Opaque> mean_rule(MeanOptions options);
/// Floating predictions as float64, so that checked_pair converts the labels to it; others, which it refuses, as they
/// are.
inline Tensor in_float64(const Tensor& y_pred) {
  return is_floating(y_pred.dtype()) ? cast(y_pred, DType::float64) : y_pred;
}

}  // namespace detail
}  // namespace TANDEM_NS
