// Quantization (namespace quantization): quantize, dequantize, and the simulated forms quantize_and_dequantize and
// fake_quant_with_min_max_args, _vars, _vars_per_channel, which stay floating.
#pragma once
#include "tandem/attrs/quantize.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {
namespace quantization {

enum class Mode : std::uint8_t {
  min_combined,  ///< the lowest code is min_range, the highest max_range
  scaled         ///< code 0 is 0; min_range and max_range only choose the scale
};
enum class RoundMode : std::uint8_t { half_away_from_zero, half_to_even };  ///< where a value between two codes goes

struct QuantizeOptions {
  TANDEM_OP_OPTIONS;
  DType T = DType::quint8;  ///< quint8, qint8 or qint32
  Mode mode = Mode::min_combined;
  RoundMode round_mode = RoundMode::half_away_from_zero;  ///< half_to_even needs Mode::scaled
  bool narrow_range = false;                              ///< Mode::scaled, signed: without the lowest code
  double ensure_minimum_range = 0.01;                     ///< the range's least width, relative to max(1, its ends)
};
struct DequantizeOptions {
  TANDEM_OP_OPTIONS;
  Mode mode = Mode::min_combined;
  bool narrow_range = false;
  DType dtype = DType::float32;  ///< float32 or float64
};
/// The result of quantize.
struct Quantized {
  Tensor output;                  ///< codes, of the options' dtype T
  Tensor output_min, output_max;  ///< scalars, x's dtype: the values of the lowest and the highest code
};

/// Quantizes numbers to codes of 8 or 32 bits. The range is first widened to contain 0 and to have the least width;
/// numbers outside take its nearest end, NaN the lowest code.
///   x         float32 or float64; any shape
///   min_range, max_range  scalars of x's dtype, or numbers
///   returns   the codes, and the range that dequantize needs
///   throws    errors::InvalidArgumentError if min_range > max_range or the options contradict each other
///   gradient  none (non-differentiable)
TANDEM_API Quantized quantize(const Tensor& x, const Tensor& min_range, const Tensor& max_range,
                              QuantizeOptions options = {});
inline Quantized quantize(const Tensor& x, Scalar min_range, Scalar max_range, QuantizeOptions o = {}) {
  return quantize(x, tandem::detail::scalar_operand("quantize", min_range, x, {o.name, o.where}),
                  tandem::detail::scalar_operand("quantize", max_range, x, {o.name, o.where}), o);
}
/// Returns the numbers that codes stand for, given quantize's output_min and output_max.
///   q         quint8, qint8 or qint32; any shape
///   returns   same shape, of .dtype
///   gradient  none (non-differentiable)
TANDEM_API Tensor dequantize(const Tensor& q, const Tensor& min_range, const Tensor& max_range,
                             DequantizeOptions options = {});
TANDEM_API Tensor dequantize(const Tensor& q, Scalar min_range, Scalar max_range, DequantizeOptions options = {});
inline Tensor dequantize(const Quantized& q, DequantizeOptions o = {}) {
  return dequantize(q.output, q.output_min, q.output_max, o);
}

struct QuantizeAndDequantizeOptions {
  TANDEM_OP_OPTIONS;
  bool signed_input = true;
  i64 num_bits = 8;
  bool range_given = false;  ///< false: the range of x's elements
  RoundMode round_mode = RoundMode::half_to_even;
  bool narrow_range = false;
};
/// Rounds numbers to those that quantize in Mode::scaled and dequantize would return. The scale is the smaller of those
/// at which the two ends of the range become the lowest and the highest code.
///   x         float32 or float64; any shape
///   input_min, input_max  scalars of x's dtype, or numbers
///   throws    errors::InvalidArgumentError if input_min > input_max, or for num_bits outside [2, 63]
///   gradient  g (straight-through); none to the range
TANDEM_API Tensor quantize_and_dequantize(const Tensor& x, const Tensor& input_min, const Tensor& input_max,
                                          QuantizeAndDequantizeOptions options = {});
inline Tensor quantize_and_dequantize(const Tensor& x, Scalar input_min, Scalar input_max,
                                      QuantizeAndDequantizeOptions o = {}) {
  return quantize_and_dequantize(
      x, tandem::detail::scalar_operand("quantize_and_dequantize", input_min, x, {o.name, o.where}),
      tandem::detail::scalar_operand("quantize_and_dequantize", input_max, x, {o.name, o.where}), o);
}

struct FakeQuantArgsOptions {
  TANDEM_OP_OPTIONS;
  double min = -6, max = 6;
  i64 num_bits = 8;           ///< in [2, 16]
  bool narrow_range = false;  ///< codes 1 ... 2^num_bits - 1 instead of 0 ...
};
struct FakeQuantOptions {
  TANDEM_OP_OPTIONS;
  i64 num_bits = 8;
  bool narrow_range = false;
};
/// Rounds numbers to 2^num_bits values in [min, max], which is first shifted such that 0 is one of them, for training
/// with quantization.
///   x         floating; any shape
///   throws    errors::InvalidArgumentError if min >= max, or for num_bits outside [2, 16]
///   gradient  g inside the shifted interval, 0 outside
///   source    Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
///             Inference", 2018
TANDEM_API Tensor fake_quant_with_min_max_args(const Tensor& x, FakeQuantArgsOptions options = {});
/// As fake_quant_with_min_max_args, with an interval that is trained.
///   min, max  scalars of x's dtype; where they are equal the result is 0
///   throws    errors::InvalidArgumentError if min > max, or for num_bits outside [2, 16]
///   gradient  to x as above, g where min and max are equal; to min: the sum of g below the interval; to max: above
TANDEM_API Tensor fake_quant_with_min_max_vars(const Tensor& x, const Tensor& min, const Tensor& max,
                                               FakeQuantOptions options = {});
/// As fake_quant_with_min_max_vars, with an interval for each entry of the last axis.
///   x         [..., d]; min, max [d]
TANDEM_API Tensor fake_quant_with_min_max_vars_per_channel(const Tensor& x, const Tensor& min, const Tensor& max,
                                                           FakeQuantOptions options = {});

}  // namespace quantization

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_QUANTIZE_OPS(unary, binary, other) other(fake_quant) other(quantize_and_dequantize)
TANDEM_DECLARE_OPS(quantize_ops, TANDEM_QUANTIZE_OPS)
TANDEM_OPS(quantized_ops, quantize, dequantize)

}  // namespace TANDEM_NS
