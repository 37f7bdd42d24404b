// The messages of tensorflow.serving.PredictionService that have tf.Examples. For the definitions of serving. Field
// numbers: tensorflow_serving/apis/{input,classification,regression}.proto.
#pragma once
#include <string_view>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// What Classify, Regress and the tasks of MultiInference ask for.
struct ExamplesRequest {
  ModelSpec model;
  std::string_view input;  ///< an Input: a part of the message
};
///   name    of the message, for errors
///   throws  errors::InvalidArgumentError for a damaged message
TANDEM_API ExamplesRequest parse_examples_request(std::string_view message, const char* name);
/// The serialized tf.Examples of an Input, string [n]. A context has the features that an example does not have itself.
///   most_bytes   what the message and the copies of the context may take
///   throws       errors::InvalidArgumentError for a damaged message, and one without examples;
///                errors::ResourceExhaustedError above .most_bytes
TANDEM_API Tensor parse_examples(std::string_view input, i64 most_bytes = i64{64} << 20);

}  // namespace TANDEM_NS::serving::impl
