// The opcodes of the superinstructions of a chain (cpu/fused/fused.hpp), one for each of fusible.hpp.
#pragma once
#include <cstdint>

#include "tandem/config.hpp"
#include "tandem/ops/fused/fusible.hpp"

namespace TANDEM_NS::cpu {

/// The opcodes, before doubling for one-element operands. `put` writes an output that is not read again.
namespace micro {
enum Name : std::uint16_t {
  load,
  keep,
  put,
#define TANDEM_MICRO(name, ...) name,
  TANDEM_FUSED_BINARY(TANDEM_MICRO) TANDEM_FUSED_SWAPPED(TANDEM_MICRO) TANDEM_FUSED_UNARY(TANDEM_MICRO)
#undef TANDEM_MICRO
};
}  // namespace micro

}  // namespace TANDEM_NS::cpu
