// Kernels of range and sequence_mask, and functions that read one integer or number of any dtype.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/create/fill.hpp"

namespace TANDEM_NS::cpu {

/// Reads one element of an integer dtype, or one of a floating dtype.
TANDEM_API i64 read_whole(DType dtype, const void* element);
TANDEM_API double read_real(DType dtype, const void* element);

/// Writes n elements: start, start + delta, ... Element i is rounded from start + i * delta, so errors do not
/// accumulate.
TANDEM_API void count_whole(void* to, DType dtype, i64 n, i64 start, i64 delta);
TANDEM_API void count_real(void* to, DType dtype, i64 n, double start, double delta);

/// The largest of an operand's integers; 0 if it is empty or all are negative.
TANDEM_API i64 longest(const Operand& lengths);

TANDEM_API void range(const KernelCall& c);
TANDEM_API void sequence_mask(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
