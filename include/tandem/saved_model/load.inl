// Definitions of saved_model/load.hpp: reading and checking a directory. Not here: calls (loaded.inl).
#pragma once
#include <algorithm>
#include <filesystem>

#include "tandem/io/regular_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/saved_model/load.hpp"
#include "tandem/saved_model/model.hpp"
#include "tandem/saved_model/version_folder.hpp"

namespace TANDEM_NS::saved_model {

namespace impl {

// The ops of the core that a file may name: none that writes to files.
TANDEM_INLINE const std::vector<const OpDef*>& allowed_ops() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> r;
    for (const OpDef* op : all_ops())
      if (std::string_view(op->name) != "print") r.push_back(op);
    return r;
  }();
  return ops;
}

TANDEM_INLINE Manifest read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + manifest_file;
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    errors::raise<errors::NotFoundError>("saved_model::load", "there is no directory " + directory);
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

// The Variables: those that are given, and new ones with the values of the file.
TANDEM_INLINE std::vector<std::pair<std::string, Variable>> load_variables(const std::string& path,
                                                                           const LoadOptions& options) {
  std::vector<std::pair<std::string, Variable>> r;
  io::Safetensors file = io::load_safetensors(path, {.map = options.map});
  const std::string frozen = "\n" + file.metadata[frozen_key];
  for (io::NamedTensor& t : file.tensors) {
    const auto given = std::find_if(options.variables.begin(), options.variables.end(),
                                    [&](const auto& v) { return v.first == t.name; });
    if (given == options.variables.end()) {
      const bool trainable = frozen.find("\n" + t.name + "\n") == frozen.npos;
      r.emplace_back(t.name, Variable(t.tensor, {.name = t.name.c_str(), .trainable = trainable}));
    } else {
      r.push_back(*given);
    }
  }
  return r;
}
TANDEM_INLINE void check_variables(const std::string& directory, const LoadOptions& options,
                                   const std::vector<std::pair<std::string, Variable>>& variables) {
  for (const auto& given : options.variables)
    if (std::none_of(variables.begin(), variables.end(), [&](const auto& v) { return v.first == given.first; }))
      errors::raise<errors::NotFoundError>("saved_model::load", directory + " has no Variable '" + given.first +
                                                                    "', which LoadOptions::variables gives");
}

// The graph says what the manifest says.
TANDEM_INLINE void check_tensors(const std::string& path, const Graph& g, const std::vector<int>& values,
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
    g = parse_named_graph(bytes, {.ops = OpLists(allowed_ops()).with(options.ops), .values = variables});
  } catch (errors::OpError& e) {
    e.set_context("in " + path);
    throw;
  }
  const Signature& s = entry.signature;
  check_tensors(path, *g.graph, g.graph->arguments, g.inputs, s.features.empty() ? s.inputs : inputs_of(s.features));
  check_tensors(path, *g.graph, g.graph->outputs, g.outputs, s.outputs);
  return g.graph;
}

TANDEM_INLINE i64 constant_bytes(const Graph& g) {
  i64 bytes = 0;
  for (const Node& n : g.nodes) {
    if (const Tensor* t = constant_of(n); t && t->has_data()) bytes += static_cast<i64>(t->spec().bytes());
    for (const Graph* body : subgraphs(n)) bytes += constant_bytes(*body);
  }
  return bytes;
}

}  // namespace impl

TANDEM_INLINE Loaded load(const std::string& given, const LoadOptions& options) {
  const tandem::detail::OutsideTrace outside;  // the Variables are not those of a function that is being traced
  std::string directory = given;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  impl::Manifest manifest = impl::read_manifest(directory);
  i64 all = 0;
  for (const auto& [file, entry] : manifest.files)
    if (__builtin_add_overflow(all, entry.bytes, &all)) all = INT64_MAX;
  impl::check_limit(directory, all, options.memory_limit);
  impl::check_files(directory, manifest);
  auto model = make_ref<Loaded::Model>();
  model->directory = directory;
  if (manifest.files.contains(impl::variables_file))
    model->variables = impl::load_variables(directory + "/" + impl::variables_file, options);
  impl::check_variables(directory, options, model->variables);
  for (const auto& [name, v] : model->variables) model->bytes += static_cast<i64>(v.spec().bytes());
  for (const auto& [name, entry] : manifest.signatures) {
    const Ref<Graph> g = impl::load_signature(directory + "/" + entry.graph, entry, options, model->variables);
    model->bytes += impl::constant_bytes(*g);
    model->add(name, entry.signature, g);
  }
  model->manifest = std::move(manifest);
  impl::check_limit(directory, model->bytes, options.memory_limit);
  return Loaded(std::move(model));
}

TANDEM_INLINE std::vector<i64> versions(const std::string& base) {
  std::vector<i64> r;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(base, error))
    if (const i64 v = impl::version_of(entry.path().filename().string()); v && entry.is_directory()) r.push_back(v);
  if (error)
    errors::raise<errors::NotFoundError>("saved_model::versions", "cannot read " + base + ": " + error.message());
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace TANDEM_NS::saved_model
