// Definitions of layers/rnn_states.hpp.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/layers/rnn_states.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE void RnnStates::make(i64 rows, const std::vector<Tensor>& zeros) const {
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (zeros[i].rank() < 1 || zeros[i].shape().dim(0) != rows)
      errors::raise<errors::InvalidArgumentError>(
          "RNN", "a layer with .stateful needs states [batch, ...], not " + to_string(zeros[i].spec()));
    add_variable("state_" + std::to_string(i), zeros[i], false);
  }
}
TANDEM_INLINE std::vector<Tensor> RnnStates::checked(const char* layer, const DimValue& rows) const {
  if (!is_built())
    errors::raise<errors::InvalidArgumentError>(
        layer, "with .stateful the batch size must be known at the first call, because the states have it");
  if (rows.is_known() && rows.number != this->rows())
    errors::raise<errors::InvalidArgumentError>(layer, "the batch has " + std::to_string(rows.number) +
                                                           " rows, but the states of this layer (.stateful) have " +
                                                           std::to_string(this->rows()));
  std::vector<Tensor> r;
  for (std::size_t i = 0, n = weight_count(); i < n; ++i) r.push_back(variable(i).value());
  return r;
}
TANDEM_INLINE void RnnStates::end(const std::vector<Tensor>& states) const {
  const tandem::detail::Unobserved quiet;
  for (std::size_t i = 0; i < states.size(); ++i) variable(i).assign(states[i]);
}
TANDEM_INLINE void check_stateful(const char* layer, bool stateful) {
  if (!stateful)
    errors::raise<errors::FailedPreconditionError>(layer, "has no states to reset: make it with .stateful = true");
}

}  // namespace TANDEM_NS::layers::detail
