// Saves models for tests/readers/serving_clients.py and tests/serving/load.py.
//   serving_models FOLDER
//       half (x -> x / 2 + 2), texts (x -> x), examples (a classifier and a regression)
//
//   serving_models FOLDER NAME VERSION
//       a version of x -> y = x / 2 + VERSION, and z, the same once more
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tandem/io.hpp"
#include "tandem/saved_model.hpp"
#include "tandem/tandem.hpp"

using namespace tandem;

namespace {

void save_line(const std::string& directory, float b) {
  const Variable half(0.5f, {.name = "half"}), offset(b, {.name = "offset"});
  const auto f = function([&](const Tensor& x) { return std::tuple(x * half + offset, x * half + offset); });
  saved_model::save(directory, {{"serving_default", saved_model::predict(f, {{"x", {{none}, float32}}}, {"y", "z"})}});
}
void save_all(const std::string& folder) {
  save_line(folder + "/half/1", 2);
  const auto same = function([](const Tensor& x) { return identity(x); });
  saved_model::save(folder + "/texts/1",
                    {{"serving_default", saved_model::predict(same, {{"x", {{none}, tandem::string}}}, {"y"})}});
  const auto scores = function([](const Tensor& a) { return a * 2.f; });
  const auto sum = function([](const Tensor& a) { return reduce_sum(a, {1}); });
  const saved_model::ExampleOptions features{{{"a", io::FixedLenFeature{{2}, float32}}}};
  saved_model::save(folder + "/examples/7", {{"serving_default", saved_model::classify(scores, features, {"scores"})},
                                             {"sum", saved_model::regress(sum, features)}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return std::fprintf(stderr, "usage: serving_models FOLDER [NAME VERSION]\n"), 2;
  const std::string folder = argv[1];
  if (argc == 2) save_all(folder);
  else save_line(folder + "/" + argv[2] + "/" + argv[3], std::strtof(argv[3], nullptr));
  return 0;
}
