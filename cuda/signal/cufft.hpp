// Fourier transforms of rows by cuFFT. For host code; not here: scales, cut and padded rows, which axis is transformed
// (fourier.cu).
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// What the rows are: n complex numbers to n; n real ones to the first n / 2 + 1 of their transform; and back.
enum class FourierKind { complex, to_half, from_half };

/// Rows of one length, in elements of each side: real or complex numbers.
struct FourierRows {
  FourierKind kind;
  bool is_double;
  i64 n;                 // of the transform
  i64 step;              // from one number of a row to the next, on both sides
  i64 from_row, to_row;  // from one row to the next
  i64 rows;
};

/// Launches the transforms, which divide by nothing. `inverse`: the exponent's sign is positive; of complex rows alone,
/// which may also be transformed in place. `from_half` overwrites `from`, and reads the imaginary parts at 0 and n / 2,
/// which must be 0. Both sides of all kinds must be aligned as complex numbers. n is at least 2.
///   throws  errors::UnavailableError without cuFFT, errors::CudaError in the op's name if it fails,
///           errors::UnimplementedError in a capture, if no such transform has run before
void transform_rows(const KernelCall& c, const FourierRows& r, bool inverse, void* from, void* to);

/// How many plans a device keeps at most.
inline constexpr std::size_t most_fourier_plans = 256;
/// For tests: how many it keeps now.
std::size_t fourier_plans(int device);

}  // namespace TANDEM_NS::cuda
