// load_version: from a folder to a version that can answer. For the definitions of serving.
#pragma once
#include <optional>
#include <string>

#include "tandem/serving/log.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving::impl {

/// Which version is loaded, and from where.
struct VersionPlace {
  std::string model;
  i64 version;
  u64 id;  // Servable::id
  std::string directory;
  i64 room;                               // bytes that are left for it; 0: there is no limit
  std::optional<Batching> batching = {};  // ModelConfig::batching
  Batching of_all = {};                   // without that: Manager::set_batching
};

/// Sets memory aside for a version that is loaded.
struct MemoryBudget {
  ///   bytes   what the version may take
  ///   values  what its Variables and constants take of that
  ///   throws  errors::ResourceExhaustedError if there are not as many
  virtual void reserve(i64 bytes, i64 values) = 0;

 protected:
  ~MemoryBudget() = default;
};

/// Sizes of batches that are positive, ascending and end with .max_batch_size, and numbers that are not negative.
///   whose   begins the error: "the model 'half': "
///   throws  errors::InvalidArgumentError for others
void check_batching(const Batching& batching, const std::string& whose);
/// The same, and no .num_batch_threads: these are of all models together. Where .enabled is false, no other option is
/// set.
void check_batching_of(const ModelConfig& model);

/// What the values and one call of a version take, of as many rows as a batch may have; without the call, if sizes come
/// with a request.
i64 bytes_with_a_call(const saved_model::Loaded& model, const Batching& batching);

/// Loads a version in these steps: how it is batched is read, where its folder says so; the files are compared with
/// what is left of memory and with their checksums; the graphs are planned; the budget is asked for the values and one
/// call, of as many rows as a batch may have (sizes that come with a request are left out); the saved requests run;
/// rows are tried in batches.
///   throws  errors::ResourceExhaustedError if it does not fit; errors::InvalidArgumentError for a file
///           batching_params.pbtxt that is wrong; what saved_model::load and warm_up raise
Lease load_version(const VersionPlace& place, const Options& options, MemoryBudget& budget);
/// Tells what batches of each signature are worth: "rows a second in batches of 1: 870, 2: 1510, 4: 2380".
void tell_speed(LogSink& log, const Servable& servable);

}  // namespace TANDEM_NS::serving::impl
