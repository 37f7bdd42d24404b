// Checkpoint: the Variables of modules, optimizers and generators under their names in one safetensors file.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/io/safetensors.hpp"
#include "tandem/nn/module.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

/// A name and what it stands for: a Module (an Optimizer is one) or a single Variable.
class CheckpointItem {
 public:
  CheckpointItem(std::string name, const Module& module) : name_(std::move(name)), module_(module), is_module_(true) {}
  CheckpointItem(std::string name, const Variable& variable) : name_(std::move(name)), variable_(variable) {}
  /// The Variables now, each under its full path: "model/hidden/kernel".
  std::vector<Module::Named> variables() const;
  const std::string& name() const { return name_; }
  /// Null for a Variable.
  const Module* module() const { return is_module_ ? &module_ : nullptr; }

 private:
  std::string name_;
  Module module_;
  Variable variable_;
  bool is_module_ = false;
};

struct RestoreOptions {
  bool partial = false;  ///< the file may hold more than is asked for
};

///   train::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}, {"step", step}});
///   checkpoint.save("run.safetensors");
///
/// An optimizer's slots are saved under the paths of their weights, "optimizer/model/hidden/kernel/m", so that the
/// order in which weights were first updated does not matter; a slot whose weight is not in the checkpoint by its
/// number in that order, "optimizer/slot_0_m". restore() takes this second name, too, which older files have for all
/// slots.
class TANDEM_API Checkpoint {
 public:
  Checkpoint(std::initializer_list<CheckpointItem> items) : items_(items) {}

  /// Writes all values. The file is replaced as a whole or left as it was.
  ///   throws  errors::FailedPreconditionError for a module without Variables (layers make theirs at the first call);
  ///           errors as io::save_safetensors
  void save(const std::string& path, const Metadata& metadata = {}) const;
  /// Sets all Variables to the file's values, or none of them. Values of Variables that layers and optimizers have yet
  /// to make are kept for them: restore() may come before the model's first call.
  ///   throws  errors::InvalidArgumentError naming each Variable that is missing from the file or has another shape or
  ///           dtype there, and, unless `.partial`, what the file holds beyond; errors as io::load_safetensors
  void restore(const std::string& path, RestoreOptions options = {}) const;

 private:
  struct Entry {
    std::string path, old_path;  // old_path: the same unless it is a slot's
    Variable variable;
  };
  std::vector<Entry> entries() const;
  std::vector<CheckpointItem> items_;
};

/// What save() was given beside the values.
TANDEM_API Metadata read_metadata(const std::string& path);

}  // namespace TANDEM_NS::train

#ifdef TANDEM_IMPLEMENT_TRAIN
#include <map>

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
  std::map<u64, const std::string*> paths;  // by Variable, its first
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
  for (const Entry& e : entries()) tensors.push_back({e.path, e.variable.peek()});
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
  for (const auto& [variable, value] : changes) variable.poke(value);
  give(values, true);
}
TANDEM_INLINE Metadata read_metadata(const std::string& path) { return io::load_safetensors_metadata(path); }

}  // namespace TANDEM_NS::train
#endif
