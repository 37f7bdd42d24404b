// Definitions of train/restore.hpp.
#pragma once
#include <set>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/train/restore.hpp"

namespace TANDEM_NS::train {

namespace impl {

// The entry of the map for a name, or its end.
TANDEM_INLINE NameMap::const_iterator entry_for(const std::string& name, const NameMap& map) {
  if (const auto whole = map.find(name); whole != map.end()) return whole;
  auto best = map.end();
  for (auto at = map.begin(); at != map.end(); ++at) {
    const std::string& key = at->first;
    const bool is_prefix = key.empty() || key.back() == '/' || key.back() == '.';
    if (is_prefix && name.starts_with(key) && (best == map.end() || key.size() > best->first.size())) best = at;
  }
  return best;
}
TANDEM_INLINE void rename(TensorMap& values, const NameMap& map) {
  if (map.empty()) return;
  const auto refuse = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("restore", what); };
  TensorMap renamed;
  std::set<std::string> unused;
  for (const auto& [key, to] : map) unused.insert(key);
  for (auto& [name, tensor] : values) {
    const auto entry = entry_for(name, map);
    std::string to = name;
    if (entry != map.end()) to.replace(0, entry->first.size(), entry->second), unused.erase(entry->first);
    if (!renamed.emplace(to, std::move(tensor)).second) refuse(".map gives two tensors the name '" + to + "'");
  }
  std::string wrong;
  for (const std::string& key : unused) wrong += " '" + key + "'";
  if (!wrong.empty())
    refuse("no name in the file fits these keys of .map:" + wrong +
           "; a key is a name, or a prefix of names that ends in '/' or '.'");
  values = std::move(renamed);
}

}  // namespace impl

TANDEM_INLINE void RestoreReport::assert_consumed() const {
  std::string wrong;
  const auto add = [&](const std::vector<std::string>& names, const char* what) {
    for (const std::string& name : names) wrong += "\n  " + name + what;
  };
  add(missing, " is missing from the file");
  add(mismatched, " has another shape or dtype in the file");
  add(unused, " is only in the file");
  add(deferred,
      " is kept for a Variable that did not exist: call the model, or build() the optimizer, before restore()");
  if (!wrong.empty())
    errors::raise<errors::InvalidArgumentError>("assert_consumed", "checkpoint and file do not match:" + wrong);
}
TANDEM_INLINE std::string to_string(const RestoreReport& report) {
  std::string r = "restored " + std::to_string(report.restored.size());
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    r += std::string(", ") + what + " " + std::to_string(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) r += (i ? " " : ": ") + names[i];
  };
  add("deferred", report.deferred);
  add("missing", report.missing);
  add("mismatched", report.mismatched);
  add("unused", report.unused);
  return r;
}

}  // namespace TANDEM_NS::train
