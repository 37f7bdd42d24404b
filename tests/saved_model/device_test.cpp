// Models with Variables on another device than the CPU: they are loaded onto it.
#include "tests/saved_model/models.hpp"
#include "tests/support/sim.hpp"

namespace saved_model_device_test {

using namespace tandem;
using testing::error_of;

TEST_CASE("saved model: Variables are loaded onto the device that they were on") {
  const testing::TemporaryFolder folder;
  {
    const sim::Installed installed;
    const Variable w(constant({2.f, 3.f}).to(sim::device), {.name = "w", .trainable = false});
    const Variable b(constant({1.f, 1.f}), {.name = "b"});
    const auto f = function([&](const Tensor& x) { return w * x + b; });
    saved_model::save(folder / "m/1", {{"f", saved_model::predict(f, {{"x", {{2}, float32}}}, {"y"})}});
    for (const bool map : {true, false}) {
      const saved_model::Loaded m = saved_model::load(folder / "m/1", {.map = map});
      for (const auto& [name, v] : m.variables()) {
        CHECK(v.device() == (name == "w" ? sim::device : Device{}));
        CHECK(v.trainable() == (name == "b"));
      }
      CHECK(m("f", {{"x", constant({10.f, 20.f})}}).at("y").cpu().to_vector<float>() == std::vector<float>{21, 61});
    }
    const Variable here(constant({2.f, 3.f}));
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
                 saved_model::load(folder / "m/1", {.variables = {{"w", here}}});
               }),
               ContainsSubstring("float32[2] on CPU:0") && ContainsSubstring("float32[2] on SIM:0"));
  }
  CHECK_THAT(error_of<errors::FailedPreconditionError>([&] { saved_model::load(folder / "m/1"); }),
             ContainsSubstring("the Variable 'w' is on") && ContainsSubstring("SIM:0"));
}

TEST_CASE("saved model: a Variable's name may have line breaks, and be that of another one's parts") {
  const testing::TemporaryFolder folder;
  const Variable a(1.f, {.name = "a\nb", .trainable = false}), b(2.f, {.name = "b"}), c(3.f, {.name = "a"});
  const auto f = function([&](const Tensor& x) { return x * a + b * c; });
  saved_model::save(folder / "m/1", {{"f", saved_model::predict(f, {{"x", {{}, float32}}}, {"y"})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  REQUIRE(m.variables().size() == 3);
  for (const auto& [name, v] : m.variables()) CHECK(v.trainable() == (name != "a\nb"));
}

}  // namespace saved_model_device_test
