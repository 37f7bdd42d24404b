// Fills memory with one element: the kernel of fill and full_like, and conversion of a C++ number to an element of a
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

/// out[0] is filled with in[1], the value (one element). in[0], the dims, has been read by resolve.
TANDEM_API void fill(const KernelCall& c);
/// out[0] is filled with the number in FullLikeAttrs; in[0] is read only for its shape.
TANDEM_API void full_like(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
