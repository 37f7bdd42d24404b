// Definitions of compare.hpp.
#include "examples/saved_model/compare.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <tandem/io.hpp>
#include <tandem/tensor.hpp>

using namespace tandem;

namespace {

using Lines = std::vector<std::string>;

// The files of a model with size and checksum, as its manifest has them.
std::map<std::string, std::string> files_of(const std::string& manifest) {
  std::map<std::string, std::string> r;
  const nlohmann::json all = nlohmann::json::parse(manifest);
  for (const auto& [name, entry] : all.at("files").items()) r.emplace(name, entry.dump());
  return r;
}

// Lines that say what a model is; those that two models do not share are their difference.
void add_signature(std::set<std::string>& lines, const std::string& name, const saved_model::Signature& s) {
  const auto add = [&](const std::string& what) { lines.insert(fmt::format("signature {}: {}", name, what)); };
  add(s.method + (s.batch() ? ", in batches" : ""));
  for (const saved_model::TensorInfo& t : s.inputs) add(fmt::format("input {}: {}", t.name, to_string(t.spec)));
  for (const saved_model::TensorInfo& t : s.outputs) add(fmt::format("output {}: {}", t.name, to_string(t.spec)));
  for (const auto& [feature, config] : s.features) {
    const Tensor& value = config.default_value;
    add(fmt::format("feature {}: {}{}", feature, to_string(Spec{config.shape, config.dtype, {}}),
                    value.is_set() ? ", by default " + to_string(value) : ""));
  }
}
std::set<std::string> lines_of(const saved_model::Loaded& model) {
  std::set<std::string> r{"saved by " + model.producer()};
  for (const auto& [name, s] : model.signatures()) {
    add_signature(r, name, s);
    r.insert(fmt::format("signature {}: graph {:016x}", name, structure_hash(model.function(name).graph())));
  }
  for (const auto& [name, v] : model.variables())
    r.insert(fmt::format("Variable {}: {} on {}{}", name, to_string(v.spec()), to_string(v.device()),
                         v.trainable() ? "" : ", not trainable"));
  return r;
}

// Of Variables that both have: how far their values are apart.
void add_values(Lines& lines, const saved_model::Loaded& a, const saved_model::Loaded& b) {
  const std::map<std::string, Variable> other(b.variables().begin(), b.variables().end());
  for (const auto& [name, v] : a.variables()) {
    const auto at = other.find(name);
    if (at == other.end() || v.dtype() != at->second.dtype() || !(v.shape() == at->second.shape())) continue;
    const Tensor x = v.read_value().cpu(), y = at->second.read_value().cpu();
    if (std::memcmp(x.raw(), y.raw(), x.spec().bytes()) == 0) continue;
    const Tensor apart = cast(reduce_max(abs(cast(x, float64) - cast(y, float64))), float64);
    lines.push_back(fmt::format("Variable {}: values differ by up to {:.3g}", name, apart.item<double>()));
  }
}

void add_files(Lines& lines, const std::string& manifest, const std::string& other_manifest) {
  const std::map<std::string, std::string> files = files_of(manifest), other = files_of(other_manifest);
  for (const auto& [name, entry] : files) {
    const auto at = other.find(name);
    if (at == other.end()) lines.push_back("- file " + name);
    else if (at->second != entry) lines.push_back("file " + name + ": contents differ");
  }
  for (const auto& file : other)
    if (!files.contains(file.first)) lines.push_back("+ file " + file.first);
}

}  // namespace

std::vector<std::string> differences(const saved_model::Loaded& a, const saved_model::Loaded& b) {
  const std::string manifest = io::read_file(a.directory() + "/model.json");
  const std::string other_manifest = io::read_file(b.directory() + "/model.json");
  if (manifest == other_manifest) return {};
  Lines lines;
  const std::set<std::string> of_a = lines_of(a), of_b = lines_of(b);
  for (const std::string& line : of_a)
    if (!of_b.contains(line)) lines.push_back("- " + line);
  for (const std::string& line : of_b)
    if (!of_a.contains(line)) lines.push_back("+ " + line);
  add_values(lines, a, b);
  add_files(lines, manifest, other_manifest);
  if (lines.empty()) lines.push_back("file model.json: contents differ");
  return lines;
}
