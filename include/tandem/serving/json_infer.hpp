// The Open Inference Protocol (version 2, github.com/kserve/open-inference-protocol): JSON bodies of infer requests,
// with tensors in JSON or, by the extension for binary tensors, as bytes behind it. Part of the component
// tandem::serving. Not here: HTTP (rest.hpp).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/saved_model/load.hpp"

namespace TANDEM_NS::serving {

using saved_model::NamedTensors;

/// The protocol's name of a dtype: "FP32"; null for complex and quantized dtypes, which it does not have.
TANDEM_API const char* infer_datatype(DType d);
/// The dtype of that name, if there is one.
TANDEM_API std::optional<DType> dtype_of_infer(std::string_view name);

/// The body of an infer request.
struct InferBody {
  struct Output {
    std::string name;
    std::optional<bool> is_binary = {};  ///< binary_data; unset: as binary_outputs says
  };
  std::optional<std::string> id = {};
  NamedTensors inputs;
  std::vector<Output> outputs = {};  ///< those that are wanted; none: all
  bool binary_outputs = false;       ///< binary_data_output
};
/// Reads an infer body:
///
///   {"id": "42", "inputs": [{"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [1.0, 2.0, 3.0, 4.0]}]}
///
/// `data` is flat or nested as the shape is. An input with the parameter binary_data_size has that many bytes behind
/// the JSON instead, in the order of the inputs: numbers little-endian, BOOL one byte, each of BYTES behind its length
/// of 4 bytes. In JSON elements of BYTES are texts or {"b64": "..."}.
///   body         all of it
///   json_bytes   how much of it is JSON, the header Inference-Header-Content-Length; unset: all
///   throws       errors::InvalidArgumentError for what is not JSON, or not this: with the input's name and the
///   position
TANDEM_API InferBody read_infer(std::string_view body, std::optional<std::size_t> json_bytes = {});

/// The body of an answer, and how much of it is JSON; unset: all.
struct InferAnswer {
  std::string body;
  std::optional<std::size_t> json_bytes = {};
};
/// Writes the answer to a request: the outputs that it wants, in its order.
///   throws  errors::InvalidArgumentError for an output that there is not; errors::UnimplementedError for a dtype that
///           the protocol does not have
TANDEM_API InferAnswer write_infer(const std::string& model, i64 version, const NamedTensors& outputs,
                                   const InferBody& request);

}  // namespace TANDEM_NS::serving
