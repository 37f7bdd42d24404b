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
        if (!is_traced) CHECK_THROWS_WITH(run(bad), ContainsSubstring("gradient 1, float32[2]"));
        else if (!joint) CHECK_THROWS_WITH(run(bad), ContainsSubstring("at [1], the first of 1 failures among 2"));
        CHECK(a.value().item<float>() == before[0]);
        CHECK(b.value().to_vector<float>()[0] == before[1]);
        CHECK(adam.iterations().value().item<i64>() == steps);
        run(constant({1.f, 1.f}));
        CHECK(std::isfinite(a.value().item<float>()));
      }
  }
}
TEST_CASE("Clipping half precision: norms are float32, also those that the dtype cannot hold") {
  const Tensor big = fill({1000}, 3000.f);
  for (const DType half : {float16, bfloat16}) {
    const Tensor g = cast(big, half);
    const Tensor norm = global_norm({Gradient(g)});
    CHECK(norm.dtype() == float32);
    CHECK(norm.item<float>() == Approx(3000 * std::sqrt(1000.)).epsilon(.005));
    const Tensor clipped = clip_by_norm(g, 10);
    CHECK(clipped.dtype() == half);
    CHECK(cast(clipped, float32).to_vector<float>()[7] == Approx(10 / std::sqrt(1000.)).epsilon(.005));
    CHECK(reduce_all(clip_by_norm(g, 1e6) == g).item<bool>());
  }
  CHECK(cast(clip_by_norm(cast(fill({1000000}, 100.f), float16), 1000), float32).to_vector<float>()[9] == 1);
}
TEST_CASE("Clipping gradients of several dtypes by their global norm") {
  const std::vector<Gradient> g{constant({3.f}), constant({4.f}, bfloat16), Gradient(), constant({12.f}, float16)};
  const auto [clipped, norm] = clip_by_global_norm(g, 6.5);
  CHECK(norm.dtype() == float32);
  CHECK(norm.item<float>() == Approx(13));
  CHECK(clipped[0].dense().item<float>() == 1.5f);
  CHECK(clipped[1].dense().dtype() == bfloat16);
  CHECK(cast(clipped[1].dense(), float32).item<float>() == 2);
  CHECK(cast(clipped[3].dense(), float32).item<float>() == 6);
  const auto wide = clip_by_global_norm({constant({3e30f}), constant({4e50}, float64)}, 1);
  CHECK(wide.norm.dtype() == float64);
  CHECK(wide.norm.item<double>() == Approx(4e50));
  CHECK(wide.gradients[0].dense().item<float>() / 7.5e-21f == Approx(1));  // the factor alone has no float32
  CHECK(wide.gradients[1].dense().item<double>() == Approx(1));
}
TEST_CASE("Clipping by norms checks all of them with one op in a trace") {
  std::vector<Variable> weights;
  std::vector<Gradient> gradients;
  for (int i = 0; i < 8; ++i) weights.emplace_back(constant({1.f, 2.f})), gradients.push_back(constant({3.f, 4.f}));
  for (const bool joint : {false, true}) {
    CAPTURE(joint);
    const optimizers::SGD sgd(joint ? optimizers::SGDOptions{.global_clipnorm = 1.}
                                    : optimizers::SGDOptions{.clipnorm = 1.});
    const auto f = function([&] { sgd.apply_gradients(gradients, weights); });
    f();
    debugging::enable_op_counts();
    f();
    debugging::disable_op_counts();
    CHECK(debugging::op_counts().at("assert") == 1);
  }
}
TEST_CASE("The options of optimizers clip equal rows of a sparse gradient by their sum") {
  using Options = optimizers::SGDOptions;
  const auto after = [](const Options& options, bool is_sparse) {
    const Variable table(zeros({3, 1}));
    const Gradient sparse(
        IndexedSlices{constant({{3.f}, {0.f}, {3.f}}), constant(std::vector<i64>{2, 0, 2}), Tensor(table)});
    const std::vector<Gradient> gradients{is_sparse ? sparse : Gradient(sparse.tensor())};
    const optimizers::SGD sgd(options);
    const auto step = function([&](const Tensor&) { sgd.apply_gradients(gradients, {table}); });
    sgd.apply_gradients(gradients, {table});
    step(constant(0.f));
    return table.to_vector<float>();
  };
  for (const Options& o : {Options{.learning_rate = 1, .clipnorm = 2}, Options{.learning_rate = 1, .clipvalue = 2},
                           Options{.learning_rate = 1, .global_clipnorm = 2}}) {
    CHECK(after(o, true) == std::vector<float>{0, 0, -4});
    CHECK(after(o, true) == after(o, false));
  }
}
