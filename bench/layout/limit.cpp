// The bandwidth of copying the data once; of reading two tensors and writing one for where.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::layout;
using bench::limit::Stream;

std::int64_t whole(std::int64_t count) { return (count + 63) / 64 * 64; }

bool add_all() {
  for (const Size& s : sizes) {
    for (const char* join : {"concat_axis0", "concat_axis1", "stack_axis0", "stack_axis2"})
      bench::limit::add_stream(s.name(join), Stream::copy, whole(parts * s.count()));
    bench::limit::add_stream(s.name("transpose"), Stream::copy, whole(s.count()));
    bench::limit::add_stream(s.name("where"), Stream::add, whole(s.count()));
  }
  return bench::limit::add_stream(swap_heads, Stream::copy, batch * tokens * heads * width);
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
