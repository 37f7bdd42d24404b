// The superinstructions of a chain (cpu/fused/fused.hpp). The loops and the lowering are generated from these lists.
#pragma once
#include <cstdint>

#include "tandem/config.hpp"

// f(name, op, whether the carried value is the first operand). With operands swapped, an op may return a different
// zero or NaN.
#define TANDEM_FUSED_BINARY(f)                                                                                        \
  f(add, add, true) f(subtract, subtract, true) f(subtract_from, subtract, false) f(multiply, multiply, true)         \
      f(divide, divide, true) f(divide_into, divide, false) f(maximum, maximum, true) f(minimum, minimum, true)       \
          f(squared_difference, squared_difference, true) f(relu_grad, relu_grad, true) f(tanh_grad, tanh_grad, true) \
              f(sigmoid_grad, sigmoid_grad, true)
// f(name) for an op of that name.
#define TANDEM_FUSED_UNARY(f) \
  f(negative) f(abs) f(square) f(sqrt) f(rsqrt) f(reciprocal) f(relu) f(exp) f(log) f(tanh) f(sigmoid)

namespace TANDEM_NS::cpu {

/// The opcodes, before doubling for one-element operands. `put` writes an output that is not read again.
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
