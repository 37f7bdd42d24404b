// Definitions of cpu/index/mask.hpp.
#pragma once
#include <complex>

#include "tandem/base/half.hpp"
#include "tandem/cpu/index/mask.hpp"

namespace TANDEM_NS::cpu {

namespace detail {
// Integers and bool_ are zero if all bits are clear, so only their width matters. Floats also have -0; each part of a
// complex number is tested.
template <class F>
void with_truth(const Operand& x, F&& f) {
  switch (x.spec->dtype) {
    case DType::float32: return f(x.as<const float>());
    case DType::float64: return f(x.as<const double>());
    case DType::complex64: return f(x.as<const std::complex<float>>());
    case DType::complex128: return f(x.as<const std::complex<double>>());
    default: break;
  }
  switch (size_of(x.spec->dtype)) {
    case 1: return f(x.as<const std::uint8_t>());
    case 2: return f(x.as<const std::uint16_t>());
    case 4: return f(x.as<const std::uint32_t>());
    default: return f(x.as<const u64>());
  }
}
}  // namespace detail

TANDEM_INLINE i64 count_true(const Operand& cond) {
  i64 r = 0;
  detail::with_truth(cond, [&](const auto* p) {
    using T = std::remove_cvref_t<decltype(*p)>;
    for (i64 i = 0, n = cond.size(); i < n; ++i) r += p[i] != T(0);
  });
  return r;
}
TANDEM_INLINE void where_true(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const int rank = s.rank();
  i64* to = c.out[0].as<i64>();
  detail::with_truth(c.in[0], [&](const auto* p) {
    using T = std::remove_cvref_t<decltype(*p)>;
    i64 at[max_rank] = {};
    for (i64 i = 0, n = c.in[0].size(); i < n; ++i) {
      if (p[i] != T(0))
        for (int d = 0; d < rank; ++d) *to++ = at[d];
      for (int d = rank - 1; d >= 0 && ++at[d] == s.dim(d); --d) at[d] = 0;
    }
  });
}

}  // namespace TANDEM_NS::cpu
