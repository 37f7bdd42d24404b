// The models of the tests of saved models.
#pragma once
#include <filesystem>
#include <string>

#include "tandem/io.hpp"
#include "tandem/saved_model.hpp"
#include "tandem/tandem.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace testing {

/// x a + b on a batch of numbers.
struct HalfPlusTwo {
  tandem::Variable a, b;
  explicit HalfPlusTwo(float half = 0.5f, float two = 2) : a(half, {.name = "a"}), b(two, {.name = "b"}) {}
  tandem::saved_model::Signature predict() const {
    const auto f = tandem::function([this](const tandem::Tensor& x) { return x * a + b; }, {.name = "half_plus_two"});
    return tandem::saved_model::predict(f, {{"x", {{tandem::none}, tandem::float32}}}, {"y"});
  }
  void save(const std::string& directory, const tandem::saved_model::SaveOptions& options = {}) const {
    tandem::saved_model::save(directory, {{"serving_default", predict()}}, options);
  }
};
inline std::vector<float> answer(const tandem::saved_model::Loaded& m, const std::vector<float>& x) {
  return m("serving_default", {{"x", tandem::constant(x)}}).at("y").to_vector<float>();
}
/// The names in a folder, sorted.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> r;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) r.push_back(entry.path().filename().string());
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace testing
