// The memory limit of the pointwise operations: two input streams and one output stream for add and mul, one of each
// for the others.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::pointwise;
using bench::limit::Stream;

bool add_all() {
  for (const std::int64_t n : {million, sixteen_million}) {
    bench::limit::add_stream(name("add", n), Stream::add, n);
    bench::limit::add_stream(name("mul", n), Stream::add, n);
    bench::limit::add_stream(name("gelu9", n), Stream::copy, n);
  }
  for (const char* unary : {"exp", "tanh", "sigmoid", "relu"})
    bench::limit::add_stream(name(unary, million), Stream::copy, million);
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
