// Pooling reads its input once; with the gradient, it also writes as much.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::pool;
using bench::limit::Stream;

[[maybe_unused]] const bool added[] = {
    bench::limit::add_stream(max_forward, Stream::read, pixels_in* channels),
    bench::limit::add_stream(max_forward_backward, Stream::copy, pixels_in* channels),
    bench::limit::add_stream(avg_forward, Stream::read, pixels_in* channels),
    bench::limit::add_stream(avg_forward_backward, Stream::copy, pixels_in* channels)};
}  // namespace
