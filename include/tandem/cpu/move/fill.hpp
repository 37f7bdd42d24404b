// Filling memory with one element: the kernel of fill and full_like, and a C++ number laid out as an element of a
// dtype.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

/// Writes a number as one element: `real` for floating and complex dtypes, the low bytes of `whole` for the others.
///   returns   false if the dtype holds no numbers (strings, quantized ones)
TANDEM_API bool write_number(void* to, DType dtype, double real, i64 whole);

/// Copies one element of any dtype `count` times to `to`; string elements there must be valid (empty ones are).
TANDEM_API void fill_elements(void* to, DType dtype, const void* element, i64 count);

/// in[1]: the value (one element); out[0]: filled with it. in[0], the dims, has been read by resolve.
TANDEM_API void fill(const KernelCall& c);
/// in[0]: read for its shape alone; out[0]: filled with the number of FullLikeAttrs.
TANDEM_API void full_like(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
