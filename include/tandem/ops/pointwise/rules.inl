// The rules of the ops that fused programs execute. In compiled mode this does not include the ops' definitions,
// which are in src/ops/.
#pragma once
#include "tandem/config.hpp"

#if !TANDEM_IS_HEADER_ONLY
#pragma push_macro("TANDEM_DEFINES")
#undef TANDEM_DEFINES
#define TANDEM_DEFINES 0
#endif

#include "tandem/ops/pointwise/activation.inl"
#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/pointwise/exp.inl"
#include "tandem/ops/pointwise/special.inl"

#if !TANDEM_IS_HEADER_ONLY
#pragma pop_macro("TANDEM_DEFINES")
#endif
