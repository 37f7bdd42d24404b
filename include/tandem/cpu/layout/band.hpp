// The CPU kernel of band_part. Not here: diagonals (layout.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = in inside the band of `lower` diagonals below and `upper` above the main one (negative: all), zero outside.
/// out may be in.
TANDEM_API void band_part(const KernelCall& c, i64 lower, i64 upper);

}  // namespace TANDEM_NS::cpu
