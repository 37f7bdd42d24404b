// Engine: the Core of a server. Part of the component tandem::serving.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/serving/core.hpp"
#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving {

/// Loads models and answers requests, without a network: what a Server listens for. For programs that bring a protocol
/// of their own, and for tests.
class TANDEM_API Engine final : public Core {
 public:
  /// Begins to load the models.
  ///   throws  errors::InvalidArgumentError for two models of one name, an empty name or path, a policy that wants no
  ///           version, sizes of batches that are not positive, ascending and end with .max_batch_size, also of a
  ///           model, and negative numbers of .max_total_queue_rows and their like
  explicit Engine(Options options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override;

  Response predict(const Request& request) override;
  std::shared_ptr<const Signatures> signatures(const ModelSpec& model, i64& version) override;
  std::vector<VersionStatus> states(const ModelSpec& model) override;
  std::vector<std::string> models() override;
  bool is_ready() override;
  bool is_ready(const ModelSpec& model) override;
  std::string metrics() override;

  /// Serves other models, or other versions of them. What is served before and after stays in memory.
  ///   throws  errors::InvalidArgumentError as the constructor, errors::UnavailableError after drain(); nothing has
  ///           changed then
  void reload(std::vector<ModelConfig> models);
  /// Batches as Options::batching would have it, from now on: requests that come, and versions that are loaded.
  /// Versions in memory keep what was found out when they were loaded: which signatures are batched, and which may be
  /// padded, which they are while .pad_variable_length_inputs is on. Nothing changes for models with a .batching of
  /// their own, nor with .enable_per_model_batching_parameters.
  ///   throws  errors::InvalidArgumentError as the constructor, and for another .enabled or .num_batch_threads than at
  ///           the start; errors::ResourceExhaustedError if larger batches do not fit into .memory_limit;
  ///           errors::UnavailableError after drain(); nothing has changed then
  void set_batching(const Batching& batching);
  /// Replaces values of Variables of the version that a request for `model` gets, as one set (Loaded::assign): each
  /// request sees all of the old ones or all of the new ones, but for one that is larger than a batch, whose parts may
  /// see different sets. Nothing is loaded again. A new version has the values of its files.
  ///   returns  the version
  ///   throws   errors::NotFoundError as predict; errors::InvalidArgumentError as Loaded::assign
  i64 assign_variables(const ModelSpec& model, const NamedTensors& values);
  /// Looks at the models' folders now, and waits until every version that is wanted is available or has failed once.
  ///   throws  errors::CancelledError, errors::DeadlineExceededError when the call gives up, or drain() does not wait
  ///           any longer; errors::UnavailableError after drain()
  void settle(const CallOptions& call = {});
  /// Says that the server is not ready any more; requests are still answered.
  void stop_being_ready();
  /// Refuses requests from now on with errors::UnavailableError, and waits so many seconds for those that run; then
  /// cancels them.
  void drain(double seconds);
  /// Counts a request that a protocol refused before it got here: "size", "auth", "deadline".
  void count_rejected(const char* reason);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace TANDEM_NS::serving
