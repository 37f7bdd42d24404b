// Definitions of data/sequences.hpp.
#pragma once
#include <algorithm>

#include "tandem/data/sequences.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

TANDEM_INLINE PaddedSequences pad_sequences(const std::vector<std::vector<std::int32_t>>& sequences,
                                            PadSequencesOptions o) {
  const tandem::detail::OutsideTrace outside;
  if (o.maxlen && *o.maxlen < 0)
    errors::raise<errors::InvalidArgumentError>("pad_sequences",
                                                "maxlen must not be negative, but is " + std::to_string(*o.maxlen));
  std::size_t width = o.maxlen ? static_cast<std::size_t>(*o.maxlen) : 0;
  for (const auto& s : sequences)
    if (!o.maxlen) width = std::max(width, s.size());
  const i64 n = static_cast<i64>(sequences.size());
  const PaddedSequences r{Tensor::allocate({{n, static_cast<i64>(width)}, DType::int32, {}}),
                          Tensor::allocate({{n}, DType::int32, {}})};
  auto *row = static_cast<std::int32_t*>(r.sequences.raw()), *length = static_cast<std::int32_t*>(r.lengths.raw());
  for (const auto& s : sequences) {
    const std::size_t count = std::min(s.size(), width);
    const auto from = s.begin() + static_cast<std::ptrdiff_t>(o.truncating == Side::pre ? s.size() - count : 0);
    std::fill_n(row, width, o.value);
    std::copy_n(from, count, row + (o.padding == Side::pre ? width - count : 0));
    *length++ = static_cast<std::int32_t>(count);
    row += width;
  }
  return r;
}

}  // namespace TANDEM_NS::data
