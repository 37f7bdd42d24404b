// What a Manager knows of its models and their versions. For the definitions of serving.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tandem/serving/manager.hpp"

namespace TANDEM_NS::serving::impl {

using Clock = std::chrono::steady_clock;

struct Version {
  VersionStatus status;
  Lease servable;                           // of an available one
  std::weak_ptr<const Servable> unloading;  // of one that requests still use
  // Those that others have replaced, which have the same values (set_batching); requests may still use them.
  std::vector<std::weak_ptr<const Servable>> replaced;
  u64 id = 0;        // of the latest attempt to load it
  i64 reserved = 0;  // bytes that it takes while a call runs, if there is a limit
  int failures = 0;
  Clock::time_point next_try = {};

  /// Whether requests use it, also as it was before it was replaced; .servable does not count.
  bool is_in_use() const;
  /// What they use; null if there is nothing.
  Lease in_use() const;
};

struct Model {
  ModelConfig config;
  std::map<i64, Version> versions;
  bool is_seen = false;               // whether its folder was read once
  std::set<std::string> passed_over;  // what else was found there and told, at most 100

  /// The newest available one, or null.
  const Version* newest() const;
  /// Whether one of them is in this state.
  bool has(State state) const;
};

/// Warns of what is in the folder of a model and is not a version, once for each name; not of hidden files, such as
/// versions that are being saved.
void warn_of_others(const std::string& name, Model& model, const std::vector<std::string>& others);
/// The versions of a folder that the policy wants.
std::set<i64> wanted_of(const VersionPolicy& policy, const std::vector<i64>& present);
/// The version that a label or a number names; none: the newest.
///   throws  errors::InvalidArgumentError for a label of which no version is available
std::optional<i64> number_of(const Model& model, const ModelSpec& spec);
[[noreturn]] void raise_not_served(const ModelSpec& m);

}  // namespace TANDEM_NS::serving::impl
