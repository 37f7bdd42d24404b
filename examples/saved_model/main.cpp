// Looks into models that saved_model::save() has written, runs and compares them; this program has none of their code.
//   saved_model show DIR                       signatures, Variables, files
//   saved_model run DIR --inputs x='[1, 2]'    calls a signature
//   saved_model verify DIR                     checks every file
//   saved_model diff DIR OTHER                 says what differs
#include <fmt/core.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <tandem/io.hpp>
#include <tandem/linalg.hpp>
#include <tandem/linalg_op_table.hpp>
#include <tandem/saved_model.hpp>
#include <tandem/signal.hpp>
#include <tandem/signal_op_table.hpp>
#include <tandem/strings.hpp>
#include <tandem/strings_op_table.hpp>
#include "examples/saved_model/values.hpp"
#include "examples/support/program.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string directory, other, signature = "serving_default", outputs;
  std::vector<std::string> inputs;
};

saved_model::Loaded load(const std::string& directory) {
  return saved_model::load(directory, {.ops = {linalg::all_ops(), signal::all_ops(), strings::all_ops()}});
}

void show_tensors(const char* what, const std::vector<saved_model::TensorInfo>& list) {
  for (const saved_model::TensorInfo& t : list) fmt::print("  {} {}: {}\n", what, t.name, to_string(t.spec));
}
int show(const Options& o) {
  const saved_model::Loaded model = load(o.directory);
  fmt::print("{}: {} bytes, by {}\n", o.directory, model.bytes(), model.producer());
  for (const auto& [name, s] : model.signatures()) {
    fmt::print("signature {}: {}{}\n", name, s.method, s.batch() ? ", in batches" : "");
    show_tensors("input", s.inputs);
    for (const auto& [feature, config] : s.features)
      fmt::print("  feature {}: {}\n", feature, to_string(Spec{config.shape, config.dtype, {}}));
    show_tensors("output", s.outputs);
  }
  for (const auto& [name, v] : model.variables())
    fmt::print("Variable {}: {}{}\n", name, to_string(v.spec()), v.trainable() ? "" : ", not trainable");
  return 0;
}

int run(const Options& o) {
  const saved_model::Loaded model = load(o.directory);
  const auto at = model.signatures().find(o.signature);
  if (at == model.signatures().end()) (void)model.function(o.signature);  // raises
  saved_model::NamedTensors inputs;
  for (const std::string& text : o.inputs) {
    const auto [name, value] = split_input(text);
    const auto info = std::find_if(at->second.inputs.begin(), at->second.inputs.end(),
                                   [&, n = name](const saved_model::TensorInfo& t) { return t.name == n; });
    const Spec spec =
        info == at->second.inputs.end() ? Spec{{}, float32, {}} : info->spec;  // an unknown name is refused
    if (!inputs.emplace(name, tensor_of(value, spec)).second)
      throw std::invalid_argument(fmt::format("the input {} is given twice", name));
  }
  for (const auto& [name, value] : model(o.signature, inputs)) {
    fmt::print("{} = {}\n", name, to_string(value));
    if (o.outputs.empty()) continue;
    std::string file = name + ".npy";
    std::replace(file.begin(), file.end(), '/', '_');
    io::save_npy(o.outputs + "/" + file, value);
  }
  return 0;
}

int verify(const Options& o) {
  const saved_model::Loaded model = load(o.directory);
  fmt::print("{}: {} signatures and {} Variables are sound\n", o.directory, model.signatures().size(),
             model.variables().size());
  return 0;
}

// Lines that say what a model is; those that two models do not share are their difference.
std::set<std::string> lines_of(const saved_model::Loaded& model) {
  std::set<std::string> r;
  const auto add = [&](const std::string& signature, const char* what,
                       const std::vector<saved_model::TensorInfo>& list) {
    for (const saved_model::TensorInfo& t : list)
      r.insert(fmt::format("signature {}: {} {}: {}", signature, what, t.name, to_string(t.spec)));
  };
  for (const auto& [name, s] : model.signatures()) {
    r.insert(fmt::format("signature {}: {}", name, s.method));
    add(name, "input", s.inputs), add(name, "output", s.outputs);
    r.insert(fmt::format("signature {}: graph {:016x}", name, structure_hash(model.function(name).graph())));
  }
  for (const auto& [name, v] : model.variables()) r.insert(fmt::format("Variable {}: {}", name, to_string(v.spec())));
  return r;
}
// Of Variables that both have: how far their values are apart.
int differing_values(const saved_model::Loaded& a, const saved_model::Loaded& b) {
  const std::map<std::string, Variable> other(b.variables().begin(), b.variables().end());
  int count = 0;
  for (const auto& [name, v] : a.variables()) {
    const auto at = other.find(name);
    if (at == other.end() || !(at->second.spec() == v.spec())) continue;
    const Tensor x = v, y = at->second;
    if (std::equal(static_cast<const char*>(x.raw()), static_cast<const char*>(x.raw()) + x.spec().bytes(),
                   static_cast<const char*>(y.raw())))
      continue;
    ++count;
    const Tensor apart = cast(reduce_max(abs(cast(x, float64) - cast(y, float64))), float64);
    fmt::print("Variable {}: values differ by up to {:.3g}\n", name, apart.item<double>());
  }
  return count;
}
int diff(const Options& o) {
  const saved_model::Loaded a = load(o.directory), b = load(o.other);
  const std::set<std::string> of_a = lines_of(a), of_b = lines_of(b);
  bool equal = true;
  for (const std::string& line : of_a)
    if (!of_b.contains(line)) equal = false, fmt::print("- {}\n", line);
  for (const std::string& line : of_b)
    if (!of_a.contains(line)) equal = false, fmt::print("+ {}\n", line);
  equal &= differing_values(a, b) == 0;
  if (equal) fmt::print("equal\n");
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app(
      "saved_model COMMAND DIR: looks into models that tandem::saved_model::save wrote, runs and compares them");
  app.require_subcommand(1);
  int (*command)(const Options&) = nullptr;
  const auto add = [&](const char* name, const char* about, int (*f)(const Options&)) {
    CLI::App* const sub = app.add_subcommand(name, about);
    sub->add_option("DIR", o.directory, "a version of a model, as models/half_plus_two/1")->required();
    sub->callback([&command, f] { command = f; });
    return sub;
  };
  add("show", "prints signatures and Variables", show);
  add("verify", "reads and checks every file", verify);
  CLI::App* const runs = add("run", "calls a signature", run);
  runs->add_option("--signature", o.signature, "which one")->capture_default_str();
  runs->add_option("--inputs", o.inputs, "NAME=FILE.npy or NAME=JSON, one for each input")->allow_extra_args();
  runs->add_option("--outdir", o.outputs, "a folder for the outputs, as NAME.npy");
  add("diff", "says what differs; status 1 if anything does", diff)
      ->add_option("OTHER", o.other, "another version or model")
      ->required();
  return program::run("saved_model", app, argc, argv, [&] { return command(o); });
}
