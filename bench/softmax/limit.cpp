// Softmax moves at least its input once in and its output once out (a gradient: the incoming one in as well, and two
// results out).
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::softmax;
using bench::limit::Stream;

[[maybe_unused]] const bool added[] = {bench::limit::add_stream(forward, Stream::copy, rows* columns),
                                       bench::limit::add_stream(forward_backward, Stream::copy, 2 * rows * columns),
                                       bench::limit::add_stream(nll, Stream::copy, rows* columns),
                                       bench::limit::add_stream(nll_tall, Stream::copy, tall_rows* tall_columns)};
}  // namespace
