// The bandwidth of the row operations that can be done in one pass: reading the matrix, or copying it.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::rows;
using bench::limit::Stream;

bool add_all() {
  for (const Case& c : cases) {
    const std::int64_t count = c.rows * c.length / 64 * 64;
    bench::limit::add_stream(c.name("argmax"), Stream::read, count);
    bench::limit::add_stream(c.name("max"), Stream::read, count);
    bench::limit::add_stream(c.name("variance"), Stream::read, count);
    bench::limit::add_stream(c.name("cumsum"), Stream::copy, count);
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
