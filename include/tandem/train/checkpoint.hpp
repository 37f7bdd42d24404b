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
class TANDEM_API Checkpoint {
 public:
  Checkpoint(std::initializer_list<CheckpointItem> items) : items_(items) {}

  /// Writes all values; errors as io::save_safetensors. The file is replaced as a whole or left as it was.
  void save(const std::string& path, const Metadata& metadata = {}) const;
  /// Sets all Variables to the file's values, or none of them.
  ///   throws  errors::InvalidArgumentError naming each Variable that is missing from the file or has another shape or
  ///           dtype there, and, unless `.partial`, what the file holds beyond; errors as io::load_safetensors
  void restore(const std::string& path, RestoreOptions options = {}) const;

 private:
  std::vector<CheckpointItem> items_;
};

/// What save() was given beside the values.
TANDEM_API Metadata read_metadata(const std::string& path);

}  // namespace TANDEM_NS::train

#ifdef TANDEM_IMPLEMENT_TRAIN
#include <set>

namespace TANDEM_NS::train {

TANDEM_INLINE std::vector<Module::Named> CheckpointItem::variables() const {
  if (!is_module_) return {{name_, variable_}};
  std::vector<Module::Named> r = module_.named_variables();
  for (Module::Named& n : r) n.path = name_ + "/" + n.path;
  return r;
}
TANDEM_INLINE void Checkpoint::save(const std::string& path, const Metadata& metadata) const {
  std::vector<io::NamedTensor> tensors;
  for (const CheckpointItem& item : items_)
    for (const Module::Named& n : item.variables()) tensors.push_back({n.path, n.variable.peek()});
  io::save_safetensors(path, tensors, metadata);
}
TANDEM_INLINE void Checkpoint::restore(const std::string& path, RestoreOptions options) const {
  const io::Safetensors file = io::load_safetensors(path);
  std::map<std::string, const Tensor*> values;
  for (const io::NamedTensor& t : file.tensors) values[t.name] = &t.tensor;
  std::vector<std::pair<Variable, Tensor>> changes;
  std::string wrong;
  for (const CheckpointItem& item : items_)
    for (const Module::Named& n : item.variables()) {
      const auto found = values.find(n.path);
      const Spec& want = n.variable.spec();
      if (found == values.end()) {
        wrong += "\n  " + n.path + " " + to_string(want) + " is missing from the file";
      } else if (const Tensor& t = *found->second; t.dtype() != want.dtype || !(t.shape() == want.shape)) {
        wrong += "\n  " + n.path + " is " + to_string(want) + ", in the file " + to_string(t.spec());
        values.erase(found);
      } else {
        changes.emplace_back(n.variable, t.to(want.device));
        values.erase(found);
      }
    }
  if (!options.partial)
    for (const auto& [name, t] : values) wrong += "\n  " + name + " " + to_string(t->spec()) + " is only in the file";
  if (!wrong.empty())
    errors::raise<errors::InvalidArgumentError>("restore", path + " belongs to another model:" + wrong);
  for (const auto& [variable, value] : changes) variable.poke(value);
}
TANDEM_INLINE Metadata read_metadata(const std::string& path) { return io::load_safetensors_metadata(path); }

}  // namespace TANDEM_NS::train
#endif
