// Plans of Fourier transforms: how a length is split into passes, and the tables of roots of unity. Plans are immutable
// and shared; the most recently used ones are kept.
#pragma once
#include <vector>

#include "tandem/core/kernel.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS::cpu::fourier {

/// The largest prime factor that passes handle; lengths with a larger one go through a convolution.
inline constexpr i64 largest_prime = 31;

/// One pass of a Stockham transform: radix r, m butterflies of each of s interleaved transforms.
template <class T>
struct Pass {
  i64 r, m, s;
  const T* roots[2];  // (r - 1) factors for each of the m: forward and inverse
  const T* unit;      // the r-th roots of unity of an odd prime above 5
};
/// The passes of a length, as kernels see them.
template <class T>
struct PassList {
  i64 n;
  int count;
  const Pass<T>* list;
};
/// The kernels of one element type and instruction set (fft.inc).
template <class T>
struct Kernels {
  int lanes;
  void (*columns)(const PassList<T>&, const T* x, T* y, i64 stride, i64 width, T sign, T scale, T* room);
  void (*rows)(const PassList<T>&, const T* x, i64 xs, T* y, i64 ys, i64 count, T sign, T scale, T* room);
  void (*first_round)(const PassList<T>&, const T* x, i64 n2, i64 tile, const T* factors, T* re, T* im, T sign,
                      T* room);
  void (*second_round)(const PassList<T>&, const T* re, const T* im, i64 n1, i64 tile, T* y, T sign, T scale, T* room);
  void (*unpack)(T* y, i64 h, const T* roots, T weight);
  void (*pack)(const T* x, i64 h, const T* roots, T weight, T* z);
};

/// A smooth length, split into passes.
template <class T>
struct Passes final : Opaque {
  std::vector<Pass<T>> list;
  std::vector<T> roots;
  PassList<T> view{};
  const char* kind() const override { return "fft passes"; }
};
/// How one row of a length is transformed: as n1 x n2 with factors between two rounds of passes, or as a convolution.
template <class T>
struct Plan final : Opaque {
  i64 n = 0, n1 = 0, n2 = 0;     // n1 = 0: a convolution
  Ref<Passes<T>> first, second;  // of n1 and n2
  std::vector<T> factors;        // exp(-2 pi i j2 k1 / n): for each tile of W numbers j2, for each k1, the real parts,
                                 // then the imaginary ones
  i64 length = 0;                // of the convolution
  std::vector<T> chirp, filter;  // exp(-pi i j^2 / n); the transform of its conjugate, divided by the length
  const char* kind() const override { return "fft plan"; }
};
/// The roots exp(-2 pi i k / n) for k in [0, count): first the real parts, then the imaginary ones.
template <class T>
struct Roots final : Opaque {
  std::vector<T> at;
  const char* kind() const override { return "roots of unity"; }
};

/// Whether all prime factors of n are at most `largest_prime`.
TANDEM_API bool is_smooth(i64 n);
/// The passes of a smooth length.
template <class T>
Ref<Passes<T>> passes_of(i64 n);
/// The plan of a row of length n for kernels of `lanes` lanes.
template <class T>
Ref<Plan<T>> plan_of(i64 n, int lanes);
template <class T>
Ref<Roots<T>> roots_of(i64 n, i64 count);

/// exp(-2 pi i k / n), to the accuracy of a double for any k.
struct Root {
  double re, im;
};
TANDEM_API Root root_of_unity(i64 k, i64 n);

}  // namespace TANDEM_NS::cpu::fourier
