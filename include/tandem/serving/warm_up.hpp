// What happens to a version before it is available: its saved requests run, and the rows of batches are compared with
// the same rows alone. For the definitions of serving.
#pragma once
#include <string>
#include <vector>

#include "tandem/serving/manager.hpp"
#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// The saved warm-up requests of a model, at most 1000: of Predict, Classify and Regress.
///   throws  errors::DataLossError for a damaged file, errors::InvalidArgumentError for damaged requests
std::vector<Request> warm_up_requests(const saved_model::Loaded& model);
/// Runs them.
///   throws  what the model raises
void warm_up(const saved_model::Loaded& model);

/// Whether two tensors agree within the rounding of kernels that add in another order; texts must be equal.
TANDEM_API bool agree(const Tensor& a, const Tensor& b);

/// The signatures whose rows give the same alone and stacked, within rounding, tried with the rows of the warm-up
/// requests or, without them, with numbers of any kind. Of the others a warning says why they are not batched, and of
/// those with inputs of unknown lengths, if they are wanted, why these are not padded. Runs of 1, 2, 4 ... rows, up to
/// the largest batch, are timed for half a second.
Batched batchable_signatures(const std::string& name, const saved_model::Loaded& model, const Batching& how);

}  // namespace TANDEM_NS::serving::impl
