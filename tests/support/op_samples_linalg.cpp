// Samples of the ops of linear algebra: those of the core.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

const Sample linalg_table[] = {
    {"band_part",
     [](Numbers& n) {
       linalg::band_part(n.reals({3, 4}), 1, 0);
       linalg::band_part(n.reals({2, 3, 3}), -1, 1);
     }},
};

}  // namespace

std::span<const Sample> linalg_samples() { return linalg_table; }

}  // namespace samples::detail
