// Core: answers requests, whatever protocol they came by. Part of the component tandem::serving.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving {

/// Answers requests. All functions may be called by several threads at once.
class TANDEM_API Core {
 public:
  virtual ~Core() = default;
  /// Runs a signature of a model, alone or in a batch with others.
  ///   throws  errors::NotFoundError for a model or version that is not served; errors::InvalidArgumentError for a
  ///   label
  ///           or a signature that there is not, inputs or outputs that do not fit, or another method;
  ///           errors::ResourceExhaustedError if the queue is full; errors::UnavailableError while the server shuts
  ///           down; errors::DeadlineExceededError, errors::CancelledError as .call says; what the model raises
  virtual Response predict(const Request& request) = 0;
  /// The signatures of a version by name, without graphs, and the version. They may hold the version in memory.
  ///   throws  errors::NotFoundError as predict
  virtual std::shared_ptr<const Signatures> signatures(const ModelSpec& model, i64& version) = 0;
  /// The states of a model's versions, the newest first; of one if the spec has a version or a label.
  ///   throws  errors::NotFoundError for a model or version that is not known
  virtual std::vector<VersionStatus> states(const ModelSpec& model) = 0;
  /// The names of the models that are configured.
  virtual std::vector<std::string> models() = 0;
  /// Whether the server takes requests and every configured model has an available version.
  virtual bool is_ready() = 0;
  /// Whether a version of the model can answer now.
  virtual bool is_ready(const ModelSpec& model) = 0;
  /// The metrics as Prometheus' text format 0.0.4.
  virtual std::string metrics() = 0;
};

}  // namespace TANDEM_NS::serving
