// The FMA peak for the step's matrix products.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
[[maybe_unused]] const bool added =
    bench::add(bench::mlp::name, [] { return bench::limit::arithmetic(bench::mlp::operations()); });
}  // namespace
