// RnnStates: the states that a recurrent layer keeps from call to call (.stateful).
#pragma once
#include <vector>

#include "tandem/layers/layer.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS::layers::detail {

/// The states of a recurrent layer for a batch of fixed size, as Variables that are not trainable.
class TANDEM_API RnnStates : public Layer {
 public:
  RnnStates() : Layer("rnn_states") {}
  /// The states. The first call makes them: zero(rows) has their initial values.
  ///   throws  errors::InvalidArgumentError, in the layer's name, if `rows` is unknown then, or another number later
  template <class Zero>
  std::vector<Tensor> begin(const char* layer, const DimValue& rows, const Zero& zero) const {
    if (!is_built() && rows.is_known()) build_once([&] { make(rows.number, zero(rows.number)); });
    return checked(layer, rows);
  }
  /// Keeps the states after a call, without gradients.
  void end(const std::vector<Tensor>& states) const;
  /// Sets them to zero(rows), if they exist.
  template <class Zero>
  void reset(const Zero& zero) const {
    if (is_built()) end(zero(rows()));
  }

 private:
  void make(i64 rows, const std::vector<Tensor>& zeros) const;
  std::vector<Tensor> checked(const char* layer, const DimValue& rows) const;
  i64 rows() const { return variable(0).shape().dim(0); }
};
/// Raises unless the layer has states to reset.
///   throws  errors::FailedPreconditionError, in the layer's name
TANDEM_API void check_stateful(const char* layer, bool stateful);

}  // namespace TANDEM_NS::layers::detail
