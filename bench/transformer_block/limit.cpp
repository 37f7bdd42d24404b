// The FMA peak for the step's products.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
[[maybe_unused]] const bool added =
    bench::add(bench::transformer::name, [] { return bench::limit::arithmetic(bench::transformer::operations()); });
}  // namespace
