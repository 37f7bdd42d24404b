// The bandwidth of reading the matrix once.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using bench::limit::Stream;
using bench::reduce::n;

[[maybe_unused]] const bool added[] = {bench::limit::add_stream(bench::reduce::sum_axis0, Stream::read, n* n),
                                       bench::limit::add_stream(bench::reduce::sum_axis1, Stream::read, n* n)};
}  // namespace
