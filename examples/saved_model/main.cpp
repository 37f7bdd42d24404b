// Looks into models that saved_model::save() has written, runs and compares them; this program has none of their code.
//   saved_model show DIR                       signatures, Variables, files
//   saved_model run DIR --inputs x='[1, 2]'    calls a signature
//   saved_model verify DIR                     checks every file
//   saved_model diff DIR OTHER                 says what differs
#include <fmt/core.h>
#include <algorithm>
#include <filesystem>

#include <tandem/io.hpp>
#include <tandem/linalg.hpp>
#include <tandem/linalg_op_table.hpp>
#include <tandem/saved_model.hpp>
#include <tandem/signal.hpp>
#include <tandem/signal_op_table.hpp>
#include <tandem/strings.hpp>
#include <tandem/strings_op_table.hpp>
#include "examples/saved_model/compare.hpp"
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
    const std::filesystem::path file = o.outputs + "/" + name + ".npy";  // a name may have folders: a/b
    std::filesystem::create_directories(file.parent_path());
    io::save_npy(file.string(), value);
  }
  return 0;
}

int verify(const Options& o) {
  const saved_model::Loaded model = load(o.directory);
  fmt::print("{}: {} signatures and {} Variables are sound\n", o.directory, model.signatures().size(),
             model.variables().size());
  return 0;
}

int diff(const Options& o) {
  const std::vector<std::string> lines = differences(load(o.directory), load(o.other));
  for (const std::string& line : lines) fmt::print("{}\n", line);
  if (lines.empty()) fmt::print("equal\n");
  return lines.empty() ? 0 : 1;
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
  runs->add_option("--outdir", o.outputs, "a folder for the outputs, as NAME.npy; it is made if need be");
  add("diff", "says what differs; status 1 if anything does", diff)
      ->add_option("OTHER", o.other, "another version or model")
      ->required();
  return program::run("saved_model", app, argc, argv, [&] { return command(o); });
}
