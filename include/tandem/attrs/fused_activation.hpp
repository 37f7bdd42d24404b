// FusedActivation: what the kernel of a matrix product or a convolution applies to its result before it stores it.
#pragma once
#include <cstdint>

#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // GCC before 13: `none` of a scoped enum hides tandem::none
enum class FusedActivation : std::uint8_t { none, relu, tanh, sigmoid };
#pragma GCC diagnostic pop
template <>
inline constexpr int enumerators<FusedActivation> = 4;

}  // namespace TANDEM_NS
