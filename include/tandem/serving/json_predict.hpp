// TensorFlow Serving's JSON for :predict, :classify and :regress. Part of the component tandem::serving. Not here: HTTP
// (rest.hpp), the Open Inference Protocol (json_infer.hpp).
#pragma once
#include <string>
#include <string_view>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving {

struct PredictOptions {
  bool ignore_extra_inputs = false;  ///< passes over inputs that the signature does not have
};
/// The body of a :predict request.
struct PredictBody {
  std::string signature;
  bool is_rows = false;  ///< whether it had `instances`; the answer then has `predictions`
  NamedTensors inputs;
};
/// Reads a :predict body:
///
///   {"signature_name": "serving_default", "instances": [[1.0, 2.0], [3.0, 4.0]]}     rows of the only input
///   {"instances": [{"x": [1.0], "y": "text"}, {"x": [2.0], "y": {"b64": "AA=="}}]}     rows of several
///   {"inputs": {"x": [[1.0], [2.0]], "y": ["text", "text"]}}                           columns; of one input its value
///
/// Numbers become the inputs' dtypes exactly or, where these are floating, correctly rounded; NaN, Infinity and
/// -Infinity are numbers, too. Keys that the format does not have are passed over.
///   throws  errors::InvalidArgumentError for what is not JSON, or not this; for a signature that there is not; for
///           inputs that are missing, surplus, or do not have the dtype and shape of the signature: with the input's
///           name and the position
TANDEM_API PredictBody read_predict(std::string_view json, const Signatures& signatures, PredictOptions options = {});
/// The answer: {"predictions": [...]}, a value or an object for each row, or {"outputs": ...}. The name of an only
/// output is left out; strings of outputs whose names end in _bytes are {"b64": "..."}, as are those that are not
/// UTF-8.
///   throws  errors::InvalidArgumentError if the outputs of an answer by rows do not have equally many;
///           errors::UnimplementedError for complex and quantized outputs
TANDEM_API std::string write_predict(const NamedTensors& outputs, bool is_rows);

/// The body of a :classify or :regress request.
struct ExamplesBody {
  std::string signature;
  Tensor examples;  ///< serialized tf.Examples, string [n]
};
/// Reads a :classify or :regress body:
///
///   {"signature_name": "classify", "context": {"country": "DE"}, "examples": [{"age": 31, "x": [1.5, 2.0]}]}
///
/// Each example becomes a tf.Example; features of the context belong to all that have none of that name. Texts and
/// {"b64": "..."} are bytes, whole numbers and booleans int64, unless the signature declares the feature float32; lists
/// with other numbers are float32.
///   most_bytes   of the body and of the context's copies, one for each example
///   throws       errors::InvalidArgumentError as read_predict, and for a feature with values of several kinds, or of
///                another kind than the signature declares; errors::ResourceExhaustedError above .most_bytes
TANDEM_API ExamplesBody read_examples(std::string_view json, const Signatures& signatures,
                                      i64 most_bytes = i64{64} << 20);
/// {"results": [[["label", 0.5], ...], ...]} of `classes` and `scores`, one of which may be missing.
///   throws  errors::InternalError if the outputs are not those of a classify signature
TANDEM_API std::string write_classify(const NamedTensors& outputs);
/// {"results": [0.5, ...]} of `outputs`.
///   throws  errors::InternalError if the outputs are not those of a regress signature
TANDEM_API std::string write_regress(const NamedTensors& outputs);

namespace impl {
/// The signature of that name.
///   throws  errors::InvalidArgumentError, in TensorFlow Serving's words
TANDEM_API const saved_model::Signature& signature_named(const Signatures& signatures, const std::string& name);
/// Checks what a request takes when each of its examples has a copy of the context.
///   input   the bytes of the request itself
///   throws  errors::ResourceExhaustedError for more than .most_bytes
TANDEM_API void check_context(std::size_t examples, std::size_t context, std::size_t input, i64 most_bytes);
/// Element `i` of the input of serialised examples.
///   throws  errors::InvalidArgumentError for more than most_string_bytes
TANDEM_API Bytes example_bytes(std::string_view example, std::size_t i);
/// The top level's signature_name; "serving_default" without one.
TANDEM_API std::string find_signature_name(std::string_view json);
}  // namespace impl

}  // namespace TANDEM_NS::serving
