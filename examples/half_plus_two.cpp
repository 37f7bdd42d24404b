// Exports y = x / 2 + 2 as version 1 of a model, and reads it back as a server would.
//   half_plus_two --base models   writes models/half_plus_two/1
#include <filesystem>

#include <tandem/saved_model.hpp>
#include <tandem/tensor.hpp>
#include "examples/support/program.hpp"

using namespace tandem;

namespace {

void save_model(const std::string& directory, bool overwrite) {
  const Variable a(0.5f, {.name = "a"}), b(2.f, {.name = "b"});
  const auto predict = function([&](const Tensor& x) { return a * x + b; });
  saved_model::save(directory, {{"serving_default", saved_model::predict(predict, {{"x", {{none}, float32}}}, {"y"})}},
                    {.overwrite = overwrite});
}

}  // namespace

int main(int argc, char** argv) {
  std::string base = "models";
  bool overwrite = false;
  CLI::App app("half_plus_two: exports y = x / 2 + 2 as BASE/half_plus_two/1 and reads it back");
  app.add_option("--base", base, "the folder of models")->capture_default_str();
  app.add_flag("--overwrite", overwrite, "replaces a version that is there");
  return program::run("half_plus_two", app, argc, argv, [&] {
    const std::string directory = base + "/half_plus_two/1";
    save_model(directory, overwrite);
    const saved_model::Loaded model = saved_model::load(directory);
    const Tensor y = model("serving_default", {{"x", constant({1.f, 2.f, 5.f})}}).at("y");
    fmt::print("{}: x = [1, 2, 5] gives y = {}\n", directory, to_string(y));
    return 0;
  });
}
