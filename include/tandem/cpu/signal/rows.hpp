// Fourier transforms of rows of numbers in memory, which the kernels of several ops share. Strides count parts, of
// which a complex number has two; rows may not overlap.
#pragma once
#include "tandem/cpu/signal/plan.hpp"

namespace TANDEM_NS::cpu::fourier {

/// The kernels for elements of T on this machine.
template <class T>
const Kernels<T>& kernels_of();

/// y = scale * transform of each row x of n complex numbers.
template <class T>
void complex_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool inverse, double scale);
/// From n real numbers to n / 2 + 1 complex ones, of which all but those at 0 and n / 2 are doubled if asked for.
template <class T>
void real_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale);
/// From n / 2 + 1 complex numbers to n real ones, the transpose of real_rows.
template <class T>
void half_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale);

}  // namespace TANDEM_NS::cpu::fourier
