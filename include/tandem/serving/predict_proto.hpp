// The messages of tensorflow.serving.PredictionService as far as they are read or written here. For the definitions of
// serving. Field numbers: tensorflow_serving/apis/{model,predict,prediction_log}.proto.
#pragma once
#include <string>
#include <string_view>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// The request of a PredictRequest.
///   most_filled   the bytes that values which are repeated to fill a shape may take, of all its tensors
///   throws        errors::InvalidArgumentError for a damaged message, and for tensors as parse_tensor;
///                 errors::ResourceExhaustedError if .most_filled does not suffice
TANDEM_API Request parse_predict_request(std::string_view message, i64 most_filled = i64{64} << 20);
/// The requests of a PredictionLog, a record of warm-up: of Predict, Classify and Regress; none of other methods.
TANDEM_API std::vector<Request> parse_prediction_log(std::string_view message);
/// Raises what the parsers raise for a message of this name that is damaged.
[[noreturn]] TANDEM_API void refuse_message(const char* message);
/// A PredictResponse: the outputs, and which version of which model they are from.
TANDEM_API std::string predict_response(const ModelSpec& model, const Response& response);
/// A ModelSpec.
TANDEM_API ModelSpec parse_model_spec(std::string_view message);
TANDEM_API void append_model_spec(std::string& to, std::uint32_t field, const ModelSpec& model);

}  // namespace TANDEM_NS::serving::impl
