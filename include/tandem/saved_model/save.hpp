// Saving models as directories that another program loads, without the code that traced them. Part of the component
// tandem::saved_model.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/core/variable.hpp"
#include "tandem/saved_model/signature.hpp"

namespace TANDEM_NS::saved_model {

/// Signatures by name. Clients that give no name mean "serving_default".
using Signatures = std::vector<std::pair<std::string, Signature>>;

struct SaveOptions {
  /// Files that the model needs, by the name that they have below assets/: {{"labels.txt", "data/labels.txt"}}. They
  /// are copied.
  std::vector<std::pair<std::string, std::string>> assets = {};
  /// Serialized tensorflow.serving.PredictionLog records that a server runs before it takes requests; at most 1000.
  std::vector<std::string> warmup = {};
  /// BatchingParameters as text, "max_batch_size { value: 32 }": how a server stacks requests for this version
  /// (serving::Options::enable_per_model_batching_parameters). It is the file batching_params.pbtxt, which may also be
  /// put into a version that has none. Empty: no file.
  std::string batching_params = {};
  /// Names of Variables; others have their own, with a number behind it where two are equal.
  std::vector<std::pair<std::string, Variable>> variables = {};
  bool overwrite = false;  ///< whether an existing version is replaced: at once, by exchanging the folders
};

/// Saves signatures with their Variables and tables as one version of a model.
///
///   const auto half_plus_two = saved_model::predict(f, {{"x", {{none}, float32}}}, {"y"});
///   saved_model::save("models/half_plus_two/1", {{"serving_default", half_plus_two}});
///
/// The directory appears whole or not at all, also when the process is killed or the machine stops: all files are on
/// the disk before the folder gets its name. Variables are saved once, whichever signatures use them.
///   directory  its name is the version: a number from 1 on
///   throws     errors::AlreadyExistsError for an existing version, unless .overwrite; errors::InvalidArgumentError for
///              names that are not valid, too long for the files of signatures (graphs/NAME.graph) and assets
///              (assets/NAME), or occur twice, default values of features that are not finite, Variables of a dtype
///              that safetensors files do not have, and more than 1000 records of warm-up; errors::UnimplementedError
///              for what graphs cannot keep (graph/io/ serialize.hpp); errors::NotFoundError for an asset that is not a
///              file; errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other system errors
TANDEM_API void save(const std::string& directory, const Signatures& signatures, const SaveOptions& options = {});

}  // namespace TANDEM_NS::saved_model
