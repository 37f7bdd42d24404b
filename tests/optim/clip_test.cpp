// Clipping by norms that overflow, or are not finite.
#include <cmath>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

const float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("Clipping scales gradients whose squares overflow or underflow") {
  const Tensor g = constant({3e30f, 4e30f});
  const auto [clipped, norm] = clip_by_global_norm({Gradient(g)}, 10);
  CHECK(norm.item<float>() == Approx(5e30f));
  CHECK(clipped[0].dense().to_vector<float>()[0] == Approx(6));
  CHECK(clipped[0].dense().to_vector<float>()[1] == Approx(8));
  CHECK(clip_by_norm(g, 10).to_vector<float>()[1] == Approx(8));
  const Tensor small = constant({3e-30f, 4e-30f});
  CHECK(global_norm({Gradient(small)}).item<float>() / 1e-30f == Approx(5));
  CHECK(clip_by_norm(small, 1e-30).to_vector<float>()[1] / 1e-30f == Approx(.8f));
}
TEST_CASE("A norm that is not finite: the functions give NaN, optimizers raise and change nothing") {
  for (const float wrong : {infinity, -infinity, NAN}) {
    CAPTURE(wrong);
    const Tensor bad = constant({1.f, wrong});
    for (const float v : clip_by_norm(bad, 1).to_vector<float>()) CHECK(std::isnan(v));
    const auto [gradients, norm] = clip_by_global_norm({Gradient(constant({1.f})), Gradient(bad)}, 1);
    CHECK(std::isnan(gradients[0].dense().item<float>()));
    CHECK_FALSE(std::isfinite(norm.item<float>()));
    for (const bool joint : {false, true})
      for (const bool is_traced : {false, true}) {
        CAPTURE(joint, is_traced);
        const Variable a(constant({1.f})), b(constant({2.f, 3.f}));
        const optimizers::Adam adam(joint ? optimizers::AdamOptions{.global_clipnorm = 1.}
                                          : optimizers::AdamOptions{.clipnorm = 1.});
        const auto step = [&](const Tensor& g) {
          adam.apply_gradients(std::vector<Gradient>{Gradient(constant({1.f})), Gradient(g)},
                               std::vector<Variable>{a, b});
          return a.read_value();
        };
        const auto traced = function(step);
        const auto run = [&](const Tensor& g) { is_traced ? traced(g) : step(g); };
        run(constant({1.f, 1.f}));
        const float before[] = {a.value().item<float>(), b.value().to_vector<float>()[0]};
        const i64 steps = adam.iterations().value().item<i64>();
        CHECK_THROWS_WITH(run(bad),
                          ContainsSubstring(joint ? "global_clipnorm" : "clipnorm") && ContainsSubstring("not finite"));
        if (!is_traced || !joint) CHECK_THROWS_WITH(run(bad), ContainsSubstring("gradient 1"));
        CHECK(a.value().item<float>() == before[0]);
        CHECK(b.value().to_vector<float>()[0] == before[1]);
        CHECK(adam.iterations().value().item<i64>() == steps);
        run(constant({1.f, 1.f}));
        CHECK(std::isfinite(a.value().item<float>()));
      }
  }
}
