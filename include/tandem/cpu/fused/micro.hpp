// What a chain can do (cpu/fused/fused.hpp): one list, from which the loops and the lowering are made.
#pragma once
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"

// f(name, rule, whether the carried value is the first operand). The other way round an op may give another zero or
// NaN.
#define TANDEM_FUSED_BINARY(f)                                                                                     \
  f(add, Add, true) f(subtract, Subtract, true) f(subtract_from, Subtract, false) f(multiply, Multiply, true)      \
      f(divide, Divide, true) f(divide_into, Divide, false) f(maximum, Maximum, true) f(minimum, Minimum, true)    \
          f(squared_difference, SquaredDifference, true) f(relu_grad, ReluGrad, true) f(tanh_grad, TanhGrad, true) \
              f(sigmoid_grad, SigmoidGrad, true)
// f(name, rule)
#define TANDEM_FUSED_UNARY(f)                                                                                 \
  f(negative, Negative) f(abs, Abs) f(square, Square) f(sqrt, Sqrt) f(rsqrt, Rsqrt) f(reciprocal, Reciprocal) \
      f(relu, Relu) f(exp, Exp) f(log, Log) f(tanh, Tanh) f(sigmoid, Sigmoid)

namespace TANDEM_NS::cpu {

/// The opcodes, before they are doubled for operands of one element. `put` writes an output that is not read again.
namespace micro {
enum Name : std::uint16_t {
  load,
  keep,
  put,
#define TANDEM_MICRO(name, ...) name,
  TANDEM_FUSED_BINARY(TANDEM_MICRO) TANDEM_FUSED_UNARY(TANDEM_MICRO)
#undef TANDEM_MICRO
};
}  // namespace micro

}  // namespace TANDEM_NS::cpu
