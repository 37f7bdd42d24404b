// Definitions of optim/gradient_checks.hpp.
#pragma once
#include "tandem/ops/debug/check_numerics.hpp"
#include "tandem/optim/gradient_checks.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::vector<Gradient> detail::checked_gradients(const std::vector<Gradient>& gradients,
                                                              const std::vector<Variable>& variables) {
  std::vector<Gradient> r = gradients;
  for (std::size_t i = 0; i < r.size(); ++i)
    if (r[i].is_set())
      r[i] =
          r[i].with_values(debugging::check_numerics(r[i].values(), "the gradient of '" + variables[i].name() + "'"));
  return r;
}

}  // namespace TANDEM_NS
