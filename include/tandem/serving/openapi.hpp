// The REST interface as a text that tools read: OpenAPI 3.1. For the definitions of serving/rest.hpp.
#pragma once
#include <string>

#include "tandem/serving/core.hpp"
#include "tandem/serving/rest.hpp"

namespace TANDEM_NS::serving::impl {

/// The paths that a Rest answers for the versions that are available now, with JSON Schemas of bodies and answers made
/// from their signatures. What a schema cannot say is not there: that lists of one level have one length, that `data`
/// of the Open Inference Protocol has as many elements as `shape` says, and binary tensors.
TANDEM_API std::string openapi_json(Core& core, const RestOptions& options);

}  // namespace TANDEM_NS::serving::impl
