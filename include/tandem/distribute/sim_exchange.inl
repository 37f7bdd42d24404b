// Definitions of distribute/sim_exchange.hpp.
#pragma once
#include <cstring>
#include <numeric>
#include <vector>

#include "tandem/distribute/sim_exchange.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute::impl {

TANDEM_INLINE std::string sim_mismatch(const SimOperation& o) {
  const std::string first = common_text(*o.calls[0]);
  for (std::size_t i = 1; i < o.calls.size(); ++i)
    if (const std::string other = common_text(*o.calls[i]); other != first)
      return "ranks called different operations: rank 0 of the group " + first + ", rank " + std::to_string(i) + " " +
             other;
  for (std::size_t to = 0; to < o.calls.size(); ++to)
    for (std::size_t from = 0; from < o.calls.size(); ++from) {
      const Collective &receiver = *o.calls[to], &sender = *o.calls[from];
      const bool all = receiver.kind == Collective::all_to_all;
      if (!all && receiver.kind != Collective::all_gather) continue;
      const i64 sent = all ? sender.send[to] : sender.count, expected = receiver.receive[from];
      if (sent != expected)
        return "rank " + std::to_string(from) + " of the group sends " + std::to_string(sent) + " elements to rank " +
               std::to_string(to) + ", which expects " + std::to_string(expected);
    }
  return {};
}

// The byte at which each part begins.
inline std::vector<std::size_t> offsets(Span<const i64> counts, std::size_t width) {
  std::vector<std::size_t> r(1, 0);
  for (const i64 n : counts) r.push_back(r.back() + static_cast<std::size_t>(n) * width);
  return r;
}
inline void copy(void* to, std::size_t at, const void* from, std::size_t begin, std::size_t bytes) {
  if (bytes) std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + begin, bytes);
}

TANDEM_INLINE void sim_exchange(const SimOperation& o) {
  const Collective& first = *o.calls[0];
  const std::size_t width = size_of(first.dtype), ranks = o.calls.size();
  const auto bytes = static_cast<std::size_t>(first.count) * width;
  std::vector<char> sum;
  if (first.kind == Collective::all_reduce || first.kind == Collective::reduce_scatter) {
    sum.resize(bytes);
    copy(sum.data(), 0, first.input, 0, bytes);
    for (std::size_t i = 1; i < ranks; ++i) first.combine(o.calls[i]->input, sum.data(), first.count);
  }
  for (std::size_t to = 0; to < ranks; ++to) {
    const Collective& c = *o.calls[to];
    const std::vector<std::size_t> parts = offsets(c.receive, width);
    switch (c.kind) {
      case Collective::barrier: break;
      case Collective::all_reduce: copy(c.output, 0, sum.data(), 0, bytes); break;
      case Collective::reduce_scatter: copy(c.output, 0, sum.data(), parts[to], parts[to + 1] - parts[to]); break;
      case Collective::broadcast:
        if (static_cast<int>(to) != c.root)
          copy(c.output, 0, o.calls[static_cast<std::size_t>(c.root)]->output, 0, bytes);
        break;
      case Collective::all_gather:
        for (std::size_t i = 0; i < ranks; ++i) copy(c.output, parts[i], o.calls[i]->input, 0, parts[i + 1] - parts[i]);
        break;
      case Collective::all_to_all:
        for (std::size_t i = 0; i < ranks; ++i)
          copy(c.output, parts[i], o.calls[i]->input, offsets(o.calls[i]->send, width)[to], parts[i + 1] - parts[i]);
        break;
    }
  }
}

}  // namespace TANDEM_NS::distribute::impl
