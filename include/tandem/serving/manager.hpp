// Manager: which versions of which models are in memory. Part of the component tandem::serving. Not here: what runs
// them (engine.hpp).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/serving/options.hpp"
#include "tandem/serving/padding.hpp"
#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

class Metrics;

/// What is known of a signature whose requests may be batched.
struct BatchFacts {
  std::optional<Padding> padding;  ///< how requests of other lengths are padded, if they may be
  /// How many seconds runs of so many rows took when the version was loaded, in ascending order.
  std::vector<std::pair<i64, double>> seconds = {};
  /// Rows of a run that is more than (cores + 1) / 2 times as fast as on one core.
  i64 fills_cores_from = INT64_MAX;

  bool fills_cores(i64 rows) const { return rows >= fills_cores_from; }
  /// How long a run of so many rows takes, by that.
  double expected_seconds(i64 rows) const {
    for (const auto& [of_rows, took] : seconds)
      if (of_rows >= rows) return took;
    return seconds.empty()
               ? 0
               : seconds.back().second * static_cast<double>(rows) / static_cast<double>(seconds.back().first);
  }
};
/// By the signature's name.
using Batched = std::map<std::string, BatchFacts>;

/// A version in memory. Who holds one can use it, whatever happens to the model's folder or configuration.
struct Servable {
  std::string model;
  i64 version;
  u64 id;  // of no other, not even of the same version loaded again
  saved_model::Loaded loaded;
  Batched batched;
  Batching batching = {};  // what counts for it
};
using Lease = std::shared_ptr<const Servable>;

/// Loads the versions that the configuration wants, and lets the others go, while requests use them. Threads of low
/// priority do that: one looks at the folders, the others load, each the versions of a model one after the other. A
/// version that cannot be loaded is tried again some times, then left, and says why. The last version of a model stays
/// as long as there is no other, also when its folder vanishes; with Options::resource it goes first, whatever the new
/// one is worth.
class Manager {
 public:
  Manager(const Options& options, Metrics& metrics);
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  /// Ends what is being loaded.
  ~Manager();

  /// The version that a request means.
  ///   throws  errors::NotFoundError with TensorFlow Serving's text; errors::InvalidArgumentError for an unknown label
  Lease acquire(const ModelSpec& model) const;
  std::vector<VersionStatus> states(const ModelSpec& model) const;
  std::vector<std::string> models() const;
  /// Whether every model has an available version.
  bool is_ready() const;
  /// Other models, or other policies and labels. What is served by both stays in memory; a model with another path is
  /// another model. Versions that could not be loaded are tried again.
  ///   throws  errors::InvalidArgumentError for two models of one name, an empty name or path, a policy that wants less
  ///           than one version, and a .batching that is wrong
  void configure(std::vector<ModelConfig> models);
  /// As Engine::set_batching.
  void set_batching(const Batching& batching);
  /// Looks at the folders now, and waits until every version that is wanted is available or has failed once.
  ///   throws  errors::CancelledError, errors::DeadlineExceededError when the call gives up
  void settle(const CallOptions& call);

 private:
  struct Shared;
  const std::unique_ptr<Shared> shared_;
};

}  // namespace TANDEM_NS::serving::impl
