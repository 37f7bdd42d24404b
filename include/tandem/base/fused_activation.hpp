// FusedActivation: what a matrix product's kernel applies to its result before it stores it.
#pragma once
#include <cstdint>

#include "tandem/config.hpp"

namespace TANDEM_NS {

enum class FusedActivation : std::uint8_t { none, relu, tanh, sigmoid };

}  // namespace TANDEM_NS
