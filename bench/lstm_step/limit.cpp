// The FMA peak for the matrix products of the training step.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using bench::lstm::training;
[[maybe_unused]] const bool added =
    bench::add(training.name, [] { return bench::limit::arithmetic(training.operations()); });
}  // namespace
