// The manifest of a saved model, model.json: which signatures and files it has. Part of the component
// tandem::saved_model.
//
//   {"format": 1, "producer": "tandem 0.1.0",
//    "signatures": {NAME: {"method": "tensorflow/serving/predict", "graph": "graphs/NAME.graph",
//                          "inputs": [{"name": "x", "dtype": "float32", "shape": [null, 3]}], "outputs": [...],
//                          "batch": true, "features": [{"name", "dtype", "shape", "default": [...]}]}},
//    "files": {"variables.safetensors": {"bytes": 1234, "crc32c": "e3069283"}, ...}}
//
// A dimension that is not known is null. "features" is only in signatures that take tf.Examples, "default" only where
// there is one.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tandem/saved_model/signature.hpp"

namespace TANDEM_NS::saved_model::impl {

inline constexpr const char* manifest_file = "model.json";
inline constexpr const char* variables_file = "variables.safetensors";
// Metadata of that file, each with the name of a Variable behind it: of one that is not trainable, and of one that is
// not on CPU:0, with the device.
inline constexpr const char* frozen_key = "not trainable.";
inline constexpr const char* device_key = "device.";
inline constexpr const char* warmup_file = "assets.extra/tf_serving_warmup_requests";
// How a server stacks requests for the version. It may be put there later: the one file that need not be listed.
inline constexpr const char* batching_file = "batching_params.pbtxt";
inline constexpr int manifest_format = 1;                     // what is written; what is newer is refused
inline constexpr std::size_t most_manifest_bytes = 1u << 20;  // a longer manifest is neither written nor read
inline constexpr const char* name_rule = "1 to 255 of the characters A-Z a-z 0-9 _ . - /, no '..', no '/' at an end";

/// Whether a file, a signature or a tensor may have this name: it is a path below a folder.
TANDEM_API bool is_valid_name(std::string_view name);

struct FileEntry {
  i64 bytes = 0;
  std::uint32_t crc32c = 0;
};

struct TANDEM_API Manifest {
  struct Entry {
    Signature signature;  // without its graph
    std::string graph;    // its file
  };
  std::string producer;
  std::map<std::string, Entry> signatures;
  std::map<std::string, FileEntry> files;  // all but the manifest

  /// The text of model.json.
  ///   throws  errors::InvalidArgumentError for one that could not be read
  std::string json() const;
  /// Reads the text of a manifest.
  ///   path    in errors
  ///   throws  errors::DataLossError, naming the path and what is wrong; errors::FailedPreconditionError for a newer
  ///           format
  static Manifest parse(std::string_view text, const std::string& path);
};

[[noreturn]] TANDEM_API void raise_damaged_model(const std::string& path, const std::string& what);

}  // namespace TANDEM_NS::saved_model::impl
