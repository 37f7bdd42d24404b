// Softmax reads at least its input once and writes its output once (with the gradient, it also reads the incoming
// gradient, and writes two results).
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
