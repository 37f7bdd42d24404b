// Definitions of train/checkpoint.hpp.
#pragma once
#include <map>

#include "tandem/train/checkpoint.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE std::vector<Module::Named> CheckpointItem::variables() const {
  if (!is_module_) return {{name_, variable_}};
  std::vector<Module::Named> r = module_.named_variables();
  for (Module::Named& n : r) n.path = name_ + "/" + n.path;
  return r;
}
TANDEM_INLINE std::vector<Checkpoint::Entry> Checkpoint::entries() const {
  std::vector<Module::Named> all;
  for (const CheckpointItem& item : items_)
    for (Module::Named& n : item.variables()) all.push_back(std::move(n));
  std::map<u64, const std::string*> paths;  // by Variable id; the first path of each
  for (const Module::Named& n : all) paths.try_emplace(n.variable.id(), &n.path);
  std::vector<Entry> entries;
  for (const Module::Named& n : all) {
    const auto weight = n.weight.is_set() ? paths.find(n.weight.id()) : paths.end();
    if (weight == paths.end()) {
      entries.push_back({n.path, n.path, n.variable});
    } else {
      const std::string optimizer = n.path.substr(0, n.path.rfind('/') + 1);
      entries.push_back({optimizer + *weight->second + "/" + n.slot, n.path, n.variable});
    }
  }
  return entries;
}
TANDEM_INLINE void Checkpoint::save(const std::string& path, const Metadata& metadata) const {
  std::vector<io::NamedTensor> tensors;
  for (const CheckpointItem& item : items_)
    if (item.variables().empty())
      errors::raise<errors::FailedPreconditionError>(
          "save",
          "'" + item.name() +
              "' has no Variables yet; layers make theirs at the first call: call the model or build() it first");
  for (const Entry& e : entries()) tensors.push_back({e.path, e.variable.value_untracked()});
  io::save_safetensors(path, tensors, metadata);
}
TANDEM_INLINE void Checkpoint::restore(const std::string& path, RestoreOptions options) const {
  std::map<std::string, Tensor> values;
  io::Safetensors file = io::load_safetensors(path);
  for (io::NamedTensor& t : file.tensors) values.emplace(std::move(t.name), std::move(t.tensor));
  std::vector<std::string> names;
  for (const auto& [name, t] : values) names.push_back(name);
  std::vector<std::pair<Variable, Tensor>> changes;
  std::map<std::string, Variable> made;
  std::string wrong;
  for (const Entry& e : entries()) {
    made.emplace(e.path, e.variable);
    auto found = values.find(e.path);
    if (found == values.end()) found = values.find(e.old_path);
    const Spec& want = e.variable.spec();
    if (found == values.end()) {
      wrong += "\n  " + e.path + " " + to_string(want) + " is missing from the file";
      continue;
    }
    const Tensor& t = found->second;
    if (t.dtype() == want.dtype && t.shape() == want.shape) changes.emplace_back(e.variable, t.to(want.device));
    else wrong += "\n  " + e.path + " is " + to_string(want) + ", in the file " + to_string(t.spec());
    values.erase(found);
  }
  const Module::Expected expected(made, std::move(names));
  const auto give = [&](std::map<std::string, Tensor>& to_give, bool keep) {
    for (const CheckpointItem& item : items_)
      if (item.module()) expected.give(*item.module(), item.name() + "/", to_give, keep);
  };
  std::map<std::string, Tensor> left = values;
  give(left, false);
  if (!options.partial)
    for (const auto& [name, t] : left) wrong += "\n  " + name + " " + to_string(t.spec()) + " is only in the file";
  if (!wrong.empty())
    errors::raise<errors::InvalidArgumentError>("restore", path + " belongs to another model:" + wrong);
  for (const auto& [variable, value] : changes) variable.set_untracked(value);
  give(values, true);
}
TANDEM_INLINE Metadata read_metadata(const std::string& path) { return io::load_safetensors_metadata(path); }

}  // namespace TANDEM_NS::train
