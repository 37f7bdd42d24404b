// What Rest answers besides tensors: states, signatures, errors. For its definitions. Part of the component
// tandem::serving.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/serving/request.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving::impl {

/// {"error": text}
TANDEM_API std::string error_json(const std::string& text);
/// TensorFlow Serving's GetModelStatusResponse.
TANDEM_API std::string states_json(const std::vector<VersionStatus>& states);
/// TensorFlow Serving's GetModelMetadataResponse.
TANDEM_API std::string metadata_json(const std::string& model, i64 version,
                                     const std::map<std::string, saved_model::Signature>& signatures);
/// The Open Inference Protocol's metadata of a model: those of "serving_default", or of the first signature.
TANDEM_API std::string infer_metadata_json(const std::string& model, const std::vector<i64>& versions,
                                           const std::map<std::string, saved_model::Signature>& signatures);

}  // namespace TANDEM_NS::serving::impl
