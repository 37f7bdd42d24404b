// Definitions of optim/check_options.hpp.
#pragma once
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::optimizers::detail {

TANDEM_INLINE void check_share(const char* op, const char* name, double x) {
  if (!(x >= 0 && x < 1))
    errors::raise<errors::InvalidArgumentError>(
        op, std::string(name) + " must be in [0, 1), not " + tandem::detail::shortest_text(x));
}
TANDEM_INLINE void check_not_negative(const char* op, const char* name, double x) {
  if (!(x >= 0))
    errors::raise<errors::InvalidArgumentError>(
        op, std::string(name) + " must not be negative, not " + tandem::detail::shortest_text(x));
}
TANDEM_INLINE void check_positive(const char* op, const char* name, double x) {
  if (!(x > 0))
    errors::raise<errors::InvalidArgumentError>(
        op, std::string(name) + " must be positive, not " + tandem::detail::shortest_text(x));
}

}  // namespace TANDEM_NS::optimizers::detail
