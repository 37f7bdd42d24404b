// What the protocols of a model server have in common: which model is meant, what it gets, what it returns. Part of the
// component tandem::serving. Not here: the protocols themselves (rest.hpp), where models come from (manager.hpp).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/core/cancel.hpp"
#include "tandem/saved_model/load.hpp"

namespace TANDEM_NS::serving {

using saved_model::NamedTensors;
using saved_model::TensorInfo;
using Signatures = std::map<std::string, saved_model::Signature>;  ///< by name

inline constexpr std::size_t most_string_bytes = std::size_t{16} << 20;  ///< of an element of a string input

namespace impl {
/// What errors say of an element of a string input that is longer than that.
inline std::string too_long(std::size_t bytes) {
  return "a string of " + std::to_string(bytes) + " bytes, more than " + std::to_string(most_string_bytes);
}
}  // namespace impl

/// Which version of which model. Without a version or a label: the newest version that is available.
struct ModelSpec {
  std::string name;
  std::optional<i64> version = {};
  std::string label = {};                     ///< of a version: "stable"; empty: none
  std::string signature = "serving_default";  ///< empty means "serving_default", too
};

/// What a client asks for.
struct Request {
  ModelSpec model;
  NamedTensors inputs;
  std::vector<std::string> outputs = {};  ///< the outputs that are wanted; none: all
  std::string_view method = {};           ///< the method that the signature must have; "": any (predict)
  CallOptions call = {};                  ///< when nobody waits for the answer any more
  const char* protocol = "rest";          ///< for metrics and the log
};
/// What it gets.
struct Response {
  i64 version = 0;  ///< the one that has answered
  NamedTensors outputs;
};

/// The life of a version, with the numbers of tensorflow.serving.ModelVersionStatus.State.
enum class State { start = 10, loading = 20, available = 30, unloading = 40, end = 50 };
/// "AVAILABLE".
TANDEM_API const char* name_of(State s);

/// What is known of a version.
struct VersionStatus {
  i64 version = 0;
  State state = State::start;
  std::string error = {};                ///< why it could not be loaded; empty: nothing went wrong
  int code = 0;                          ///< that error's gRPC status code
  i64 bytes = 0;                         ///< what it takes of memory
  std::vector<std::string> labels = {};  ///< labels that refer to this version
};

}  // namespace TANDEM_NS::serving
