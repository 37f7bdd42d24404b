// The FMA peak for the step's matrix products.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
[[maybe_unused]] const bool added =
    bench::add(bench::char_rnn::name, [] { return bench::limit::arithmetic(bench::char_rnn::operations()); });
}  // namespace
