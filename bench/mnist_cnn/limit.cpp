// The FMA peak for the step's products.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
[[maybe_unused]] const bool added =
    bench::add(bench::mnist_cnn::name, [] { return bench::limit::arithmetic(bench::mnist_cnn::operations()); });
}  // namespace
