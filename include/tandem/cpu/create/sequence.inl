// Definitions of cpu/create/sequence.hpp.
#pragma once
#include <cstring>

#include "tandem/attrs/create.hpp"
#include "tandem/cpu/create/sequence.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE i64 read_whole(DType dtype, const void* p) {
  switch (dtype) {
    case DType::int8: return *static_cast<const std::int8_t*>(p);
    case DType::int16: return *static_cast<const std::int16_t*>(p);
    case DType::int32: return *static_cast<const std::int32_t*>(p);
    case DType::uint8: return *static_cast<const std::uint8_t*>(p);
    case DType::uint16: return *static_cast<const std::uint16_t*>(p);
    case DType::uint32: return *static_cast<const std::uint32_t*>(p);
    default: return *static_cast<const i64*>(p);
  }
}
TANDEM_INLINE double read_real(DType dtype, const void* p) {
  return dtype == DType::float32 ? static_cast<double>(*static_cast<const float*>(p)) : *static_cast<const double*>(p);
}

TANDEM_INLINE void count_whole(void* to, DType dtype, i64 n, i64 start, i64 delta) {
  const std::size_t width = size_of(dtype);
  u64 x = static_cast<u64>(start);  // unsigned: the last step may pass the end of the range
  for (i64 i = 0; i < n; ++i, x += static_cast<u64>(delta))
    std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(i) * width, &x, width);  // little endian
}
TANDEM_INLINE void count_real(void* to, DType dtype, i64 n, double start, double delta) {
  for (i64 i = 0; i < n; ++i) {
    const double x = start + static_cast<double>(i) * delta;
    if (dtype == DType::float32) static_cast<float*>(to)[i] = static_cast<float>(x);
    else static_cast<double*>(to)[i] = x;
  }
}
TANDEM_INLINE i64 longest(const Operand& lengths) {
  i64 r = 0;
  const std::size_t width = size_of(lengths.spec->dtype);
  for (i64 i = 0, n = lengths.size(); i < n; ++i) {
    const i64 x = read_whole(lengths.spec->dtype, lengths.as<char>() + static_cast<std::size_t>(i) * width);
    if (x > r) r = x;
  }
  return r;
}

TANDEM_INLINE void range(const KernelCall& c) {
  const Operand& o = c.out[0];
  const DType dtype = o.spec->dtype;
  if (is_integer(dtype))
    count_whole(o.data, dtype, o.size(), read_whole(dtype, c.in[0].data), read_whole(dtype, c.in[2].data));
  else count_real(o.data, dtype, o.size(), read_real(dtype, c.in[0].data), read_real(dtype, c.in[2].data));
}
TANDEM_INLINE void sequence_mask(const KernelCall& c) {
  const Operand &lengths = c.in[0], &o = c.out[0];
  const DType dtype = o.spec->dtype;
  const i64 row = o.shape().dim(o.shape().rank() - 1);
  const std::size_t width = size_of(dtype), step = size_of(lengths.spec->dtype);
  alignas(16) char one[16];
  write_number(one, dtype, 1, 1);
  std::memset(o.data, 0, o.spec->bytes());
  for (i64 i = 0, n = lengths.size(); i < n; ++i) {
    const i64 length = read_whole(lengths.spec->dtype, lengths.as<char>() + static_cast<std::size_t>(i) * step);
    if (length > 0)
      fill_elements(o.as<char>() + static_cast<std::size_t>(i * row) * width, dtype, one, length < row ? length : row);
  }
}

}  // namespace TANDEM_NS::cpu
