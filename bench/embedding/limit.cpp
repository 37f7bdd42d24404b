// The looked-up rows must be read and written once; a dense gradient writes the entire table.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::embedding;
using bench::limit::Stream;

[[maybe_unused]] const bool added[] = {bench::limit::add_stream(gather, Stream::copy, batch* width),
                                       bench::limit::add_stream(sparse, Stream::copy, batch* width)};
}  // namespace
