// Definitions of saved_model/load.hpp: reading and checking a directory. Not here: calls (loaded.inl).
#pragma once
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "tandem/attrs/attrs.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/saved_object.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/saved_model/load.hpp"
#include "tandem/saved_model/model.hpp"
#include "tandem/saved_model/version_folder.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::saved_model {

namespace impl {

// A model comes from elsewhere, and print can append to any file (output_stream "file://...").
TANDEM_INLINE std::vector<const OpDef*> allowed_ops() {
  std::vector<const OpDef*> r;
  for (const OpDef* op : all_ops())
    if (std::string_view(op->name) != "print") r.push_back(op);
  return r;
}

TANDEM_INLINE Manifest read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + manifest_file;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::is_regular_file(status))
    raise_damaged_model(path, std::filesystem::exists(status) ? "it is not a regular file" : "it is missing");
  io::detail::RegularFile file("saved_model::load", path);
  if (file.size() > most_manifest_bytes)
    raise_damaged_model(path, "it has " + std::to_string(file.size()) + " bytes, above the limit of " +
                                  std::to_string(most_manifest_bytes));
  std::string text(file.size(), '\0');
  file.read(text.data(), text.size());
  return Manifest::parse(text, path);
}
TANDEM_INLINE void check_limit(const std::string& directory, i64 bytes, i64 limit) {
  if (limit > 0 && bytes > limit)
    errors::raise<errors::ResourceExhaustedError>(
        "saved_model::load",
        directory + " takes " + std::to_string(bytes) + " bytes, above the limit of " + std::to_string(limit));
}

// What a model reads into memory whole, or maps; assets and requests of warm-up stay files.
TANDEM_INLINE i64 bytes_of_files(const Manifest& manifest) {
  i64 bytes = 0;
  const auto add = [&](const std::string& file) {
    const auto at = manifest.files.find(file);
    if (at != manifest.files.end() && __builtin_add_overflow(bytes, at->second.bytes, &bytes)) bytes = INT64_MAX;
  };
  add(variables_file);
  for (const auto& [name, entry] : manifest.signatures) add(entry.graph);
  return bytes;
}

// The device on which a Variable was saved.
TANDEM_INLINE Device device_of(const std::string& path, const std::string& variable, const std::string& device) try {
  const Device d = device_named(device);
  if (d.kind != Device::cpu) (void)backend_of(d);
  return d;
} catch (const errors::OpError& e) {
  errors::raise<errors::FailedPreconditionError>(
      "saved_model::load", "in " + path + ", the Variable '" + variable + "' is on " +
                               tandem::detail::escaped_text(device.substr(0, 40)) + ": " + e.message());
}
// The Variables: those that are given, and new ones with the values of the file.
TANDEM_INLINE std::vector<std::pair<std::string, Variable>> load_variables(const std::string& path,
                                                                           const LoadOptions& options) {
  std::vector<std::pair<std::string, Variable>> r;
  io::Safetensors file = io::load_safetensors(path, {.map = options.map});
  const std::map<std::string, Variable> given(options.variables.begin(), options.variables.end());
  for (const io::NamedTensor& t : file.tensors) {
    if (const auto at = given.find(t.name); at != given.end()) {
      r.push_back(*at);
      continue;
    }
    const auto device = file.metadata.find(device_key + t.name);
    const Tensor value =
        device == file.metadata.end() ? t.tensor : t.tensor.to(device_of(path, t.name, device->second));
    const bool trainable = !file.metadata.contains(frozen_key + t.name);
    r.emplace_back(t.name, Variable(value, {.name = t.name.c_str(), .trainable = trainable}));
  }
  return r;
}
TANDEM_INLINE void check_variables(const std::string& directory, const LoadOptions& options,
                                   const std::vector<std::pair<std::string, Variable>>& variables) {
  std::set<std::string_view> names;
  for (const auto& [name, v] : variables) names.insert(name);
  for (const auto& given : options.variables)
    if (!names.contains(given.first))
      errors::raise<errors::NotFoundError>("saved_model::load", directory + " has no Variable '" + given.first +
                                                                    "', which LoadOptions::variables gives");
}

// The graph says what the manifest says.
TANDEM_INLINE void check_tensors(const std::string& path, const Graph& g, Span<const ValueId> values,
                                 const std::vector<std::string>& names, const std::vector<TensorInfo>& listed) {
  if (names.size() != listed.size())
    raise_damaged_model(path, "it has " + std::to_string(names.size()) +
                                  " inputs or outputs with names, the manifest " + std::to_string(listed.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Spec& spec = g.spec(values[i]);
    if (names[i] != listed[i].name || spec.dtype != listed[i].spec.dtype || !(spec.shape == listed[i].spec.shape))
      raise_damaged_model(path, "'" + names[i] + "' is " + to_string(spec) + ", in the manifest '" + listed[i].name +
                                    "' is " + to_string(listed[i].spec));
  }
}
TANDEM_INLINE Ref<Graph> load_signature(const std::string& path, const Manifest::Entry& entry,
                                        const LoadOptions& options,
                                        const std::vector<std::pair<std::string, Variable>>& variables) {
  const std::string bytes = io::detail::read_regular_file("saved_model::load", path);
  NamedGraph g;
  try {
    const std::vector<const OpDef*> ops = allowed_ops();
    g = parse_named_graph(bytes, {.ops = OpLists(ops).with(options.ops), .values = variables});
  } catch (errors::OpError& e) {
    e.set_context("in " + path);
    throw;
  }
  const Signature& s = entry.signature;
  check_tensors(path, *g.graph, g.graph->arguments, g.inputs, s.features.empty() ? s.inputs : inputs_of(s.features));
  check_tensors(path, *g.graph, g.graph->outputs, g.outputs, s.outputs);
  return g.graph;
}

// What graphs take besides Variables: constants, and objects such as tables, each once.
class HeldBytes final : AttrVisitor {
 public:
  static i64 of(const Graph& g) {
    HeldBytes all;
    all.add(g);
    return all.bytes_;
  }

 private:
  void add(const Graph& g) {
    for (const Node& n : g.nodes) {
      if (const Tensor* t = constant_of(n); t && t->has_data()) bytes_ += static_cast<i64>(t->spec().bytes());
      if (n.op->attrs) n.attrs.visit(*this);
      for (const Graph* body : subgraphs(n)) add(*body);
    }
  }
  void number(const char*, i64) override {}
  void real(const char*, double) override {}
  void text(const char*, const std::string&) override {}
  void numbers(const char*, const i64*, int) override {}
  void opaque(const char*, const Opaque* x) override {
    if (const auto* o = dynamic_cast<const SavedObject*>(x); o && objects_.insert(o).second)
      bytes_ += TANDEM_VIRTUAL(*o, SavedObject::bytes)();
  }
  std::set<const SavedObject*> objects_;
  i64 bytes_ = 0;
};

inline constexpr int most_attempts = 3;

}  // namespace impl

TANDEM_INLINE Ref<Loaded::Model> Loaded::Model::read(const std::string& directory, const LoadOptions& options) {
  impl::Manifest manifest = impl::read_manifest(directory);
  impl::check_limit(directory, impl::bytes_of_files(manifest), options.memory_limit);
  impl::check_files(directory, manifest);
  auto model = make_ref<Model>();
  model->directory = directory;
  if (manifest.files.contains(impl::variables_file))
    model->variables = impl::load_variables(directory + "/" + impl::variables_file, options);
  impl::check_variables(directory, options, model->variables);
  for (const auto& [name, v] : model->variables) model->bytes += static_cast<i64>(v.spec().bytes());
  for (const auto& [name, entry] : manifest.signatures) {
    const Ref<Graph> g = impl::load_signature(directory + "/" + entry.graph, entry, options, model->variables);
    model->bytes += impl::HeldBytes::of(*g);
    impl::check_limit(directory, model->bytes, options.memory_limit);
    model->add(name, entry.signature, g);
  }
  model->manifest = std::move(manifest);
  return model;
}
TANDEM_INLINE Loaded load(const std::string& given, const LoadOptions& options) {
  const tandem::detail::OutsideTrace outside;  // the Variables are not those of a function that is being traced
  std::string directory = given;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  for (int attempt = 0; attempt < impl::most_attempts; ++attempt) {
    const impl::ReadVersion version(directory);
    try {
      Ref<Loaded::Model> model = Loaded::Model::read(directory, options);
      if (version.is_current()) return Loaded(std::move(model));
    } catch (const errors::OpError&) {  // perhaps because it is half of one and half of another version
      if (version.is_current()) throw;
    }
  }
  errors::raise<errors::UnavailableError>("saved_model::load",
                                          directory + " was replaced " + std::to_string(impl::most_attempts) +
                                              " times while it was read: load it again when nobody saves it");
}

TANDEM_INLINE std::vector<i64> versions(const std::string& base, std::vector<std::string>* others) {
  std::vector<i64> r;
  std::error_code error, ignored;  // what cannot be looked at, such as a link to itself, is no folder
  for (std::filesystem::directory_iterator at(base, error), end; at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (const i64 v = impl::version_of(name); v && at->is_directory(ignored)) r.push_back(v);
    else if (others) others->push_back(name);
  }
  if (error)
    errors::raise<errors::NotFoundError>("saved_model::versions", "cannot read " + base + ": " + error.message());
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace TANDEM_NS::saved_model
