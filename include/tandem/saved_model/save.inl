// Definitions of saved_model/save.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/ir/variable_set.hpp"
#include "tandem/io/file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/io/tfrecord.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/saved_model/save.hpp"
#include "tandem/saved_model/version_folder.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::saved_model {

namespace impl {

inline constexpr std::size_t most_warmup_records = 1000;

[[noreturn]] TANDEM_INLINE void refuse_save(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("saved_model::save", what);
}
TANDEM_INLINE std::string graph_file(const std::string& signature) { return "graphs/" + signature + ".graph"; }
TANDEM_INLINE std::string asset_file(const std::string& asset) { return "assets/" + asset; }
// JSON has no infinity and no NaN.
TANDEM_INLINE void check_defaults(const std::string& signature, const Signature& s) {
  for (const auto& [feature, config] : s.features) {
    if (!config.default_value.is_set() || config.default_value.dtype() != DType::float32) continue;
    for (const float x : config.default_value.to_vector<float>())
      if (!std::isfinite(x))
        refuse_save("the signature '" + signature + "' has the feature '" + feature + "' with a default value of " +
                    tandem::detail::shortest_text(x) + "; only finite ones can be saved");
  }
}
TANDEM_INLINE void check_save(const Signatures& signatures, const SaveOptions& options) {
  std::set<std::string> names, files;
  const auto check = [&](const char* what, const std::string& name, const std::string& file) {
    if (!is_valid_name(name))
      refuse_save(std::string("the ") + what + " '" + name + "' does not have a valid name: " + name_rule);
    if (!is_valid_name(file))
      refuse_save(std::string("the name of the ") + what + " '" + name + "' is too long: its file " + file + " has " +
                  std::to_string(file.size()) + " characters, at most 255");
    if (!names.insert(name).second) refuse_save(std::string("two ") + what + "s are named '" + name + "'");
    files.insert(file);
  };
  if (signatures.empty()) refuse_save("there are no signatures");
  for (const auto& [name, s] : signatures) {
    check("signature", name, graph_file(name));
    check_defaults(name, s);
    if (!s.graph)
      refuse_save("the signature '" + name + "' has no graph: make it by saved_model::predict() or its like");
  }
  names.clear();
  for (const auto& [name, path] : options.assets) check("asset", name, asset_file(name));
  if (options.warmup.size() > most_warmup_records)
    refuse_save(std::to_string(options.warmup.size()) + " records of warm-up, at most " +
                std::to_string(most_warmup_records));
  for (const std::string& file : files)
    for (std::size_t at = file.find('/'); at != file.npos; at = file.find('/', at + 1))
      if (files.contains(file.substr(0, at)))
        refuse_save("the file " + file.substr(0, at) + " would be the folder of " + file +
                    ": give one of them another name");
}

// The Variables of graphs, each with a name of its own.
class VariableNames {
 public:
  explicit VariableNames(const std::vector<std::pair<std::string, Variable>>& given) {
    for (const auto& [name, v] : given) given_names_.insert(name), given_.emplace(v.id(), name);
  }
  void add(const Graph& g) {
    for (const Variable& v : g.variables) add(v);
    for (const Node& n : g.nodes)
      for (const Graph* body : subgraphs(n)) add(*body);
  }
  const std::vector<std::pair<std::string, Variable>>& list() const { return list_; }

 private:
  void add(const Variable& v) {
    if (known_.contains(v)) return;
    known_.insert(v);
    const auto given = given_.find(v.id());
    if (given == given_.end()) return list_.emplace_back(unused(v.name().empty() ? "variable" : v.name()), v), void();
    if (!used_.insert(given->second).second) refuse_save("two Variables are named '" + given->second + "'");
    list_.emplace_back(given->second, v);
  }
  std::string unused(const std::string& name) {
    std::string r = name;
    while (given_names_.contains(r) || !used_.insert(r).second) r = name + "_" + std::to_string(++numbers_[name]);
    return r;
  }
  std::map<u64, std::string> given_;  // by id
  std::set<std::string> given_names_, used_;
  std::map<std::string, int> numbers_;  // by name: the last one behind it
  tandem::detail::VariableSet known_;
  std::vector<std::pair<std::string, Variable>> list_;
};

TANDEM_INLINE void save_variables(NewVersion& version, const std::vector<std::pair<std::string, Variable>>& variables) {
  if (variables.empty()) return;
  std::vector<io::NamedTensor> tensors;
  io::Metadata metadata;
  for (const auto& [name, v] : variables) {
    tensors.push_back({name, v.value_untracked()});
    if (!v.trainable()) metadata[frozen_key + name];
    if (!(v.device() == Device{})) metadata[device_key + name] = to_string(v.device());
  }
  // Wide dtypes first, so that all tensors are aligned in the file, which is mapped.
  std::stable_sort(tensors.begin(), tensors.end(), [](const io::NamedTensor& a, const io::NamedTensor& b) {
    return size_of(a.tensor.dtype()) > size_of(b.tensor.dtype());
  });
  io::save_safetensors(version.path(variables_file), tensors, metadata);
  version.add(variables_file);
}
TANDEM_INLINE Manifest::Entry save_signature(NewVersion& version, const std::string& name, const Signature& s,
                                             const std::vector<std::pair<std::string, Variable>>& variables) {
  tandem::SaveOptions options{.values_elsewhere = variables};
  if (s.features.empty()) {
    for (const TensorInfo& t : s.inputs) options.inputs.push_back(t.name);
  } else {
    for (const auto& [feature, config] : s.features) options.inputs.push_back(feature);
  }
  for (const TensorInfo& t : s.outputs) options.outputs.push_back(t.name);
  Manifest::Entry e{s, graph_file(name)};
  version.write(e.graph, serialize(*s.graph, options));
  e.signature.graph = {};
  return e;
}
TANDEM_INLINE void save_warmup(NewVersion& version, const std::vector<std::string>& records) {
  if (records.empty()) return;
  io::TFRecordWriter writer(version.path(warmup_file));
  for (const std::string& r : records) writer.write(r);
  writer.close();
  version.add(warmup_file);
}

// The text of a manifest that load() accepts.
TANDEM_INLINE std::string manifest_text(const Manifest& manifest) {
  std::string text = manifest.json();
  try {
    (void)Manifest::parse(text, manifest_file);
  } catch (const errors::DataLossError& e) {
    refuse_save(std::string("the model could not be loaded: ") + e.message());
  }
  return text;
}

}  // namespace impl

TANDEM_INLINE void save(const std::string& directory, const Signatures& signatures, const SaveOptions& options) {
  const tandem::detail::OutsideTrace outside;
  impl::check_save(signatures, options);
  impl::VariableNames variables(options.variables);
  for (const auto& [name, s] : signatures) variables.add(*s.graph);
  impl::NewVersion version(directory, options.overwrite);
  impl::Manifest manifest;
  manifest.producer = "tandem " TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
      TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH);
  impl::save_variables(version, variables.list());
  for (const auto& [name, s] : signatures)
    manifest.signatures.emplace(name, impl::save_signature(version, name, s, variables.list()));
  for (const auto& [name, path] : options.assets) version.write(impl::asset_file(name), io::read_file(path));
  impl::save_warmup(version, options.warmup);
  if (!options.batching_params.empty()) version.write(impl::batching_file, options.batching_params);
  manifest.files = version.files();
  version.write(impl::manifest_file, impl::manifest_text(manifest));
  version.publish();
}

}  // namespace TANDEM_NS::saved_model
