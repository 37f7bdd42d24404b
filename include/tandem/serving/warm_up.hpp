// What happens to a version before it is available: its saved requests run, and the rows of batches are compared with
// the same rows alone. For the definitions of serving.
#pragma once
#include <string>
#include <vector>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// The saved warm-up requests of a model, at most 1000; those of Predict alone.
///   throws  errors::DataLossError for a damaged file, errors::InvalidArgumentError for damaged requests
std::vector<Request> warm_up_requests(const saved_model::Loaded& model);
/// Runs them.
///   throws  what the model raises
void warm_up(const saved_model::Loaded& model);

/// The signatures whose rows give the same alone and stacked, within rounding, tried with the rows of the warm-up
/// requests or, without them, with numbers of any kind. Of the others a warning says why they are not batched.
std::vector<std::string> batchable_signatures(const std::string& name, const saved_model::Loaded& model);

}  // namespace TANDEM_NS::serving::impl
