// Definitions of serving/model_versions.hpp.
#pragma once
#include <algorithm>

#include "tandem/base/warning.hpp"
#include "tandem/serving/model_versions.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE bool Version::is_in_use() const {
  return !unloading.expired() ||
         std::any_of(replaced.begin(), replaced.end(), [](const auto& other) { return !other.expired(); });
}
TANDEM_INLINE Lease Version::in_use() const {
  Lease r = unloading.lock();
  for (const auto& other : replaced)
    if (!r) r = other.lock();
  return r;
}
TANDEM_INLINE const Version* Model::newest() const {
  for (auto v = versions.rbegin(); v != versions.rend(); ++v)
    if (v->second.status.state == State::available) return &v->second;
  return nullptr;
}
TANDEM_INLINE bool Model::has(State state) const {
  return std::any_of(versions.begin(), versions.end(), [&](const auto& v) { return v.second.status.state == state; });
}

TANDEM_INLINE std::string text_of(const ModelSpec& m) {
  if (m.version) return "Specific(" + m.name + ", " + std::to_string(*m.version) + ")";
  return "Latest(" + m.name + ")";
}
[[noreturn]] TANDEM_INLINE void raise_not_served(const ModelSpec& m) {
  errors::raise<errors::NotFoundError>("serving", "Servable not found for request: " + text_of(m));
}

TANDEM_INLINE void warn_of_others(const std::string& name, Model& model, const std::vector<std::string>& others) {
  constexpr std::size_t most = 100;
  for (const std::string& other : others)
    if (!other.starts_with('.') && model.passed_over.size() < most && model.passed_over.insert(other).second)
      detail::warn(("serving: model " + name + ": '" + other + "' in " + model.config.base_path +
                    " is passed over: a version is a folder whose name is a number, such as 1")
                       .c_str());
}
TANDEM_INLINE std::set<i64> wanted_of(const VersionPolicy& policy, const std::vector<i64>& present) {
  std::set<i64> r;
  for (const i64 v : present)
    if (policy.kind != VersionPolicy::specific ||
        std::find(policy.versions.begin(), policy.versions.end(), v) != policy.versions.end())
      r.insert(v);
  while (policy.kind == VersionPolicy::latest && static_cast<i64>(r.size()) > policy.num_versions) r.erase(r.begin());
  return r;
}

TANDEM_INLINE std::optional<i64> number_of(const Model& model, const ModelSpec& spec) {
  if (spec.label.empty()) return spec.version;
  const auto at = model.config.version_labels.find(spec.label);
  const auto v = at == model.config.version_labels.end() ? model.versions.end() : model.versions.find(at->second);
  if (v == model.versions.end() || v->second.status.state != State::available)
    errors::raise<errors::InvalidArgumentError>("serving", "Unrecognized servable version label: " + spec.label);
  return at->second;
}

}  // namespace TANDEM_NS::serving::impl
