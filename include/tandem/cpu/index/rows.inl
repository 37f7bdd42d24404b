// Definitions of cpu/index/rows.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/rows.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

inline void copy_elements(DType d, void* to, const void* from, i64 count) {
  if (to == from) return;
  if (d == DType::string) std::copy_n(static_cast<const Bytes*>(from), count, static_cast<Bytes*>(to));
  else std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(d));
}
inline i64 index_of(const Operand& i) { return i.spec->dtype == DType::int64 ? *i.as<i64>() : *i.as<std::int32_t>(); }
inline i64 checked_index(const KernelCall& c, const Operand& index, i64 n) {
  const i64 i = index_of(index);
  if (i < 0 || i >= n)
    errors::raise<errors::InvalidArgumentError>(
        c.op, "index " + std::to_string(i) + " is out of range [0, " + std::to_string(n) + ")");
  return i;
}

}  // namespace detail

TANDEM_INLINE void update_row(const KernelCall& c) {
  const Operand &x = c.in[0], &row = c.in[2], &y = c.out[0];
  const i64 at = detail::checked_index(c, c.in[1], x.shape().dim(0));
  detail::copy_elements(x.spec->dtype, y.data, x.data, x.size());
  char* const place = y.as<char>() + static_cast<std::size_t>(at * row.size()) * size_of(x.spec->dtype);
  detail::copy_elements(x.spec->dtype, place, row.data, row.size());
}
TANDEM_INLINE void add_rows(const KernelCall& c) {
  const Operand &x = c.in[0], &idx = c.in[1], &rows = c.in[2], &y = c.out[0];
  detail::with_index_type(idx, [&]<class I>(I*) { detail::check_indices<I>(c, idx, 0, x.shape().dim(0)); });
  detail::copy_elements(x.spec->dtype, y.data, x.data, x.size());
  if (!rows.size()) return;
  const i64 inner = rows.size() / idx.size();
  detail::with_number_type(x.spec->dtype, [&]<class T>(T*) {
    detail::with_index_type(idx, [&]<class I>(I*) {
      detail::add_rows<T, I>(y.data, x.shape().dim(0), rows.data, idx.data, idx.size(), inner);
    });
  });
}
TANDEM_INLINE void mark_row(const KernelCall& c) {
  const Operand &written = c.in[0], &y = c.out[0];
  const i64 at = detail::checked_index(c, c.in[1], written.size());
  if (written.as<bool>()[at])
    errors::raise<errors::InvalidArgumentError>(
        c.op, "element " + std::to_string(at) + " has been written before; an element is written once");
  detail::copy_elements(DType::bool_, y.data, written.data, written.size());
  y.as<bool>()[at] = true;
}
TANDEM_INLINE void check_row(const KernelCall& c) {
  const Operand &idx = c.in[0], &written = c.in[1];
  detail::with_index_type(idx, [&]<class I>(I*) {
    detail::check_indices<I>(c, idx, 0, written.size());
    for (i64 k = 0; k < idx.size(); ++k)
      if (const I at = idx.as<const I>()[k]; !written.as<bool>()[at])
        errors::raise<errors::InvalidArgumentError>(c.op, "element " + std::to_string(at) + " has not been written");
  });
  detail::copy_elements(idx.spec->dtype, c.out[0].data, idx.data, idx.size());
}
TANDEM_INLINE void check_rows(const KernelCall& c) {
  const Operand &x = c.in[0], &written = c.in[1];
  for (i64 i = 0; i < written.size(); ++i)
    if (!written.as<bool>()[i])
      errors::raise<errors::InvalidArgumentError>(c.op, "element " + std::to_string(i) + " has not been written");
  detail::copy_elements(x.spec->dtype, c.out[0].data, x.data, x.size());
}

}  // namespace TANDEM_NS::cpu
