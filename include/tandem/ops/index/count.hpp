// Counts: bincount, histogram_fixed_width, confusion_matrix.
// Not here: count_nonzero (ops/reduce/statistics.hpp).
#pragma once
#include <optional>
#include <utility>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct BincountOptions {
  TANDEM_OP_OPTIONS;
  Tensor weights = {};                ///< of the shape of x: sums of weights in place of counts, in their dtype
  i64 minlength = 0;                  ///< the smallest size of the result
  std::optional<i64> maxlength = {};  ///< the largest size; values from it on are ignored
  DType dtype = DType::int32;         ///< of counts: int32, int64, float32 or float64
  std::optional<i64> axis = {};       ///< default: all elements are counted together; -1: each row of x
  bool binary_output = false;         ///< 1 for values that occur, in place of their number
};
struct HistogramOptions {
  TANDEM_OP_OPTIONS;
  i64 nbins = 100;
  DType dtype = DType::int32;  ///< int32 or int64
};
struct ConfusionMatrixOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> num_classes = {};  ///< default: the largest label or prediction + 1
  Tensor weights = {};                  ///< of the shape of the labels; default: 1 each; bool_ counts where true
  std::optional<DType> dtype = {};      ///< of the result; default: that of the weights, int32 for counts
};

/// Counts how often each non-negative integer occurs in x: [1, 1, 2, 4] -> [0, 2, 1, 0, 1].
///   x         integers, any shape; with .axis = -1 of rank 1 or 2
///   returns   shape [m], with .axis = -1 x.shape[:-1] + [m], where m is the largest value + 1, at least .minlength and
///             at most .maxlength; dtype .dtype, or that of the weights
///   throws    errors::InvalidArgumentError for a negative value, naming it and its position, or options that do not
///             fit
///   gradient  to weights: g[x], 0 where x is ignored
TANDEM_API Tensor bincount(const Tensor& x, BincountOptions = {});
/// Confusion matrix of a classification: element [i, j] is the number (the sum of the weights) of samples of class i
/// that were predicted to be of class j.
///   labels, predictions  integers, shape [n]; values in [0, num_classes)
///   returns   shape [num_classes, num_classes], dtype .dtype or that of the weights
///   throws    errors::InvalidArgumentError for a value out of range, naming it, or shapes that do not match
///   gradient  none (non-differentiable)
TANDEM_API Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions, ConfusionMatrixOptions = {});

/// Histogram with .nbins intervals of equal width between two limits. Values below the lower limit are counted in the
/// first interval, values from the upper limit on in the last one.
///   x         real numbers, any shape
///   range     [lower, upper]: dtype of x, shape [2]; or a pair of numbers
///   returns   shape [nbins], dtype .dtype
///   throws    errors::InvalidArgumentError unless lower < upper, or for nbins < 1
///   gradient  none (non-differentiable)
TANDEM_API Tensor histogram_fixed_width(const Tensor& x, const Tensor& range, HistogramOptions = {});
TANDEM_API Tensor histogram_fixed_width(const Tensor& x, std::pair<double, double> range, HistogramOptions = {});

TANDEM_OPS(count_ops, bincount, histogram_fixed_width, confusion_matrix)

namespace rules {
struct BincountAttrs {
  i64 minlength, maxlength;  // maxlength: or none
  DType dtype;
  bool rows, once;
  TANDEM_ATTRS(BincountAttrs, minlength, maxlength, dtype, rows, once);
};
struct HistogramAttrs {
  i64 nbins;
  DType dtype;
  TANDEM_ATTRS(HistogramAttrs, nbins, dtype);
};
struct ConfusionAttrs {
  i64 num_classes;  // or none
  DType dtype;
  TANDEM_ATTRS(ConfusionAttrs, num_classes, dtype);
};
}  // namespace rules
}  // namespace TANDEM_NS
