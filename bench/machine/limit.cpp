// The limits printed above the table: FMA peak, and copy, add and read of 256 MB buffers with and without
// non-temporal stores.
#include "../support/limit.hpp"

namespace {
using bench::limit::Stream;

bool add_all() {
  constexpr std::int64_t count = std::int64_t{1} << 26;
  bench::add("machine/fma", [] { return bench::limit::arithmetic(1e9); });
  bench::limit::add_stream("machine/copy", Stream::copy, count);
  bench::limit::add_stream("machine/add", Stream::add, count);
  return bench::limit::add_stream("machine/read", Stream::read, count);
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
