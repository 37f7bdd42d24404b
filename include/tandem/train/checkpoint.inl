// Definitions of train/checkpoint.hpp.
#pragma once
#include <map>

#include "tandem/io/safetensors_shards.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/train/checkpoint.hpp"

namespace TANDEM_NS::train {

namespace detail {

inline std::string lengths_of(const std::string& name) { return name + ".lengths"; }
// Adds what a file keeps of a tensor.
TANDEM_INLINE void add_entry(std::vector<io::NamedTensor>& entries, const std::string& name, const Tensor& t) {
  if (t.dtype() != DType::string) return entries.push_back({name, t}), void();
  std::string bytes;
  std::vector<i64> lengths;
  for (const std::string& s : t.to_vector<std::string>()) bytes += s, lengths.push_back(static_cast<i64>(s.size()));
  const std::vector<std::uint8_t> numbers(bytes.begin(), bytes.end());
  entries.push_back({name, constant(numbers, {.shape = Shape{static_cast<i64>(numbers.size())}})});
  entries.push_back({lengths_of(name), constant(lengths, {.shape = t.shape()})});
}
// The strings of an entry, which stay bytes and lengths if these do not fit.
TANDEM_INLINE Tensor strings_of(const Tensor& bytes, const Tensor& lengths) {
  if (bytes.dtype() != DType::uint8 || lengths.dtype() != DType::int64) return {};
  const std::vector<std::uint8_t> all = bytes.to_vector<std::uint8_t>();
  std::vector<std::string> strings;
  auto at = all.begin();
  for (const i64 n : lengths.to_vector<i64>()) {
    if (n < 0 || n > all.end() - at) return {};
    strings.emplace_back(at, at + n);
    at += n;
  }
  return at == all.end() ? constant(strings, {.shape = lengths.shape()}) : Tensor();
}
// Removes an entry from the values of a file. Returns its tensor; unset if there is none.
//   may_be_text  whether bytes with lengths beside them are strings
TANDEM_INLINE Tensor take_entry(TensorMap& values, const std::string& name, bool may_be_text) {
  const auto at = values.find(name), lengths = values.find(lengths_of(name));
  if (at == values.end()) return {};
  Tensor t = at->second;
  if (may_be_text && lengths != values.end())
    if (const Tensor strings = strings_of(t, lengths->second); strings.is_set()) {
      t = strings;
      values.erase(lengths);
    }
  values.erase(at);
  return t;
}
}  // namespace detail

TANDEM_INLINE std::vector<Module::NamedAsset> CheckpointItem::assets() const {
  std::vector<Module::NamedAsset> r;
  if (is_module_) r = module_.named_assets();
  for (Module::NamedAsset& a : r) a.path.insert(0, prefix());
  return r;
}
TANDEM_INLINE std::vector<Module::Named> CheckpointItem::variables() const {
  if (!is_module_) return {{name_, variable_}};
  std::vector<Module::Named> r = module_.named_variables();
  for (Module::Named& n : r) n.path.insert(0, prefix());
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
  if (skips_sharded_) std::erase_if(entries, [](const Entry& e) { return e.variable.whole_rows() > 0; });
  return entries;
}
TANDEM_INLINE std::vector<Module::Named> Checkpoint::sharded() const {
  std::vector<Module::Named> r;
  for (const Entry& e : entries())
    if (e.variable.whole_rows() > 0) r.push_back({.path = e.path, .variable = e.variable});
  return r;
}
TANDEM_INLINE Checkpoint Checkpoint::without_sharded() const {
  Checkpoint r = *this;
  r.skips_sharded_ = true;
  return r;
}
TANDEM_INLINE std::vector<Module::NamedAsset> Checkpoint::assets() const {
  std::vector<Module::NamedAsset> all;
  for (const CheckpointItem& item : items_)
    for (Module::NamedAsset& a : item.assets()) all.push_back(std::move(a));
  return all;
}
TANDEM_INLINE std::vector<io::NamedTensor> Checkpoint::values() const {
  std::vector<io::NamedTensor> tensors;
  for (const CheckpointItem& item : items_) {
    bool is_empty = item.variables().empty();
    for (const Module::NamedAsset& a : item.assets()) {
      for (const Asset::Part& part : TANDEM_VIRTUAL(*a.asset, Asset::parts)()) {
        if (!part.value.is_set()) continue;
        detail::add_entry(tensors, a.path + part.suffix, part.value);
        is_empty = false;
      }
    }
    if (is_empty)
      errors::raise<errors::FailedPreconditionError>(
          "save", (item.name().empty() ? "the module" : "'" + item.name() + "'") +
                      " has no Variables yet; layers make theirs at the first call: call the model or build() it first "
                      "(a layer that learns by adapt() has nothing to save before)");
  }
  for (const Entry& e : entries()) {
    const i64 whole = e.variable.whole_rows();
    if (whole > 0 && e.variable.shape()[0] != whole)
      errors::raise<errors::FailedPreconditionError>(
          "save", "'" + e.path + "' is " + to_string(e.variable.spec()) + ", a part of the " + std::to_string(whole) +
                      " rows that several processes have: save in the scope of their strategy");
    detail::add_entry(tensors, e.path, e.variable.value_untracked());
  }
  return tensors;
}
// The values that a checkpoint's Variables and assets take from a file, and a line for each one that does not fit.
struct Checkpoint::Changes {
  explicit Changes(const RestoreOptions& o) : options(o) {}

  const RestoreOptions& options;
  std::vector<std::pair<Variable, Tensor>> variables;
  std::vector<std::pair<Module::NamedAsset, Ref<Asset>>> assets;
  RestoreReport report;
  std::string wrong;

  void take(const Entry& e, TensorMap& values) {
    const Spec& want = e.variable.spec();
    const std::string& name = values.contains(e.path) ? e.path : e.old_path;
    Tensor t = detail::take_entry(values, name, want.dtype == DType::string);
    if (!t.is_set()) return miss(e.path, want);
    t = own_rows(e.variable, t);
    if (t.dtype() == want.dtype && t.shape() == want.shape) {
      variables.emplace_back(e.variable, t.to(want.device));
      report.restored.push_back(e.path);
      return;
    }
    report.mismatched.push_back(e.path);
    if (!options.allow_mismatched)
      wrong += "\n  " + e.path + " is " + to_string(want) + ", in the file " + to_string(t.spec());
  }
  void take(const Module::NamedAsset& a, TensorMap& values) {
    std::vector<Tensor> found;
    bool is_complete = true;
    for (const Asset::Part& part : TANDEM_VIRTUAL(*a.asset, Asset::parts)()) {
      const std::string name = a.path + part.suffix;
      found.push_back(detail::take_entry(values, name, true));
      if (found.back().is_set()) continue;
      is_complete = false;
      if (part.value.is_set() && !a.asset->is_given()) miss(name, part.value.spec());
    }
    if (!is_complete) return;
    try {
      assets.emplace_back(a, TANDEM_VIRTUAL(*a.asset, Asset::with)(found));
      report.restored.push_back(a.path);
    } catch (const errors::OpError& e) {
      wrong += "\n  " + a.path + ": " + e.message();
    }
  }
  void miss(const std::string& path, const Spec& want) {
    report.missing.push_back(path);
    if (!options.allow_missing) wrong += "\n  " + path + " " + to_string(want) + " is missing from the file";
  }
  // What no one has taken.
  void leave(const TensorMap& values) {
    for (const auto& [name, t] : values) {
      report.unused.push_back(name);
      if (!options.partial) wrong += "\n  " + name + " " + to_string(t.spec()) + " is only in the file";
    }
  }
  void check(const std::string& path) const {
    if (wrong.empty()) return;
    std::string advice;
    if (options.convert && variables.empty() && report.missing.empty() && report.mismatched.empty())
      advice =
          "\n(the weights of another framework are converted for Variables that exist: call the model before, so that "
          "its layers make them)";
    else if (!report.missing.empty() && !report.unused.empty())
      advice = std::string("\n(.map gives the names in the file those of this model") +
               (options.convert ? ")" : "; .convert is for the weights of another framework: train::from_pytorch)");
    errors::raise<errors::InvalidArgumentError>("restore", path + " belongs to another model:" + wrong + advice);
  }
  void apply() const {
    for (const auto& [variable, value] : variables) VariableAccess::check_free(variable);
    for (const auto& [variable, value] : variables) variable.set_untracked(value);
    for (const auto& [asset, value] : assets) Module::replace(asset, value);
  }
};
// The tensors of the file under the names of the checkpoint.
TANDEM_INLINE std::map<std::string, Tensor> Checkpoint::read(const std::string& path,
                                                             const RestoreOptions& options) const {
  TensorMap values;
  io::Safetensors file =
      path.ends_with(io::shards_suffix) ? io::load_safetensors_shards(path) : io::load_safetensors(path);
  for (io::NamedTensor& t : file.tensors) values.emplace(std::move(t.name), std::move(t.tensor));
  impl::rename(values, options.map);
  if (options.convert) {
    std::vector<WantedTensor> wanted;
    for (const Entry& e : entries()) wanted.push_back({e.path, e.variable.spec()});
    options.convert(values, wanted);
  }
  return values;
}
TANDEM_INLINE RestoreReport Checkpoint::restore_file(const std::string& path, const RestoreOptions& options) const {
  return set(path, read(path, options), options);
}
TANDEM_INLINE RestoreReport Checkpoint::restore_values(const std::vector<io::NamedTensor>& values,
                                                       const RestoreOptions& options) const {
  TensorMap all;
  for (const io::NamedTensor& t : values) all.emplace(t.name, t.tensor);
  return set("the memory", std::move(all), options);
}
// path: where the values come from, for errors.
TANDEM_INLINE RestoreReport Checkpoint::set(const std::string& path, TensorMap values,
                                            const RestoreOptions& options) const {
  std::vector<std::string> names;
  for (const auto& [name, t] : values) names.push_back(name);
  Changes changes(options);
  std::map<std::string, Variable> made;
  for (const Entry& e : entries()) {
    made.emplace(e.path, e.variable);
    changes.take(e, values);
  }
  for (const Module::NamedAsset& a : assets()) changes.take(a, values);
  take_own_rows(values);
  const TensorMap left = values;
  Module::Expected expected(made, std::move(names));
  for (const CheckpointItem& item : items_)
    if (item.module()) expected.give(*item.module(), item.prefix(), values);
  for (const auto& [name, t] : left)
    if (!values.contains(name)) changes.report.deferred.push_back(name);
  changes.leave(values);
  changes.check(path);
  changes.apply();  // nothing from here on raises: all changes, or none
  expected.set();
  return std::move(changes.report);
}
TANDEM_INLINE Metadata read_metadata(const std::string& path) {
  if (!path.ends_with(io::shards_suffix)) return io::load_safetensors_metadata(path);
  const std::vector<std::string> shards = io::list_safetensors_shards(path);
  return shards.empty() ? Metadata() : io::load_safetensors_metadata(shards.front());
}

}  // namespace TANDEM_NS::train
