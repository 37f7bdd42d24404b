// Definitions of cpu/create/fill.hpp.
#pragma once
#include <cstring>

#include "tandem/attrs/create.hpp"
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/create/fill.hpp"

namespace TANDEM_NS::cpu {

namespace detail {
template <class T>
bool write_as(void* to, T x) {
  std::memcpy(to, &x, sizeof x);
  return true;
}
}  // namespace detail

TANDEM_INLINE bool write_number(void* to, DType dtype, double real, i64 whole) {
  switch (dtype) {
    case DType::float32: return detail::write_as(to, static_cast<float>(real));
    case DType::float64: return detail::write_as(to, real);
    case DType::float16: return detail::write_as(to, Half(static_cast<float>(real)));
    case DType::bfloat16: return detail::write_as(to, BFloat16(static_cast<float>(real)));
    case DType::complex64:
      detail::write_as(static_cast<float*>(to) + 1, 0.f);
      return detail::write_as(to, static_cast<float>(real));
    case DType::complex128: detail::write_as(static_cast<double*>(to) + 1, 0.0); return detail::write_as(to, real);
    case DType::bool_: return detail::write_as(to, whole != 0 || real != 0);
    default: break;
  }
  if (!is_integer(dtype)) return false;
  std::memcpy(to, &whole, size_of(dtype));  // little endian: the low bytes
  return true;
}

TANDEM_INLINE void fill_elements(void* to, DType dtype, const void* element, i64 count) {
  if (dtype == DType::string) {
    for (i64 i = 0; i < count; ++i) static_cast<Bytes*>(to)[i] = *static_cast<const Bytes*>(element);
    return;
  }
  constexpr std::size_t block = 256;  // a whole number of elements of every dtype
  char pattern[block];
  const std::size_t width = size_of(dtype), bytes = static_cast<std::size_t>(count) * width;
  for (std::size_t i = 0; i < block; i += width) std::memcpy(pattern + i, element, width);
  parallel_for(static_cast<i64>((bytes + block - 1) / block), 1024, [&](i64 begin, i64 end) {
    char* p = static_cast<char*>(to);
    for (i64 b = begin; b < end; ++b) {
      const std::size_t at = static_cast<std::size_t>(b) * block;
      if (at + block <= bytes) std::memcpy(p + at, pattern, block);
      else std::memcpy(p + at, pattern, bytes - at);
    }
  });
}

TANDEM_INLINE void fill(const KernelCall& c) {
  fill_elements(c.out[0].data, c.out[0].spec->dtype, c.in[1].data, c.out[0].size());
}
TANDEM_INLINE void full_like(const KernelCall& c) {
  const rules::FullLikeAttrs& a = c.attrs.get<rules::FullLikeAttrs>();
  const Operand& o = c.out[0];
  if (o.spec->dtype == DType::string) return;  // zeros: elements start empty
  if (a.real == 0 && a.whole == 0 && !__builtin_signbit(a.real)) {
    const i64 bytes = static_cast<i64>(o.spec->bytes());
    parallel_for(bytes, 256 * 1024, [&](i64 begin, i64 end) {
      std::memset(o.as<char>() + begin, 0, static_cast<std::size_t>(end - begin));
    });
    return;
  }
  alignas(16) char element[16];
  write_number(element, o.spec->dtype, a.real, a.whole);
  fill_elements(o.data, o.spec->dtype, element, o.size());
}

}  // namespace TANDEM_NS::cpu
