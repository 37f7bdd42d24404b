// polynomial_fit: finds a parabola from points of it. The smallest complete training loop: data, model, loss,
// optimizer, and a step that is traced once and then run again and again.
#include <fmt/core.h>

#include <tandem/tandem.hpp>

#include "examples/support/on_device.hpp"
#include "examples/support/parabola.hpp"

using namespace tandem;

namespace {

int fit(const program::Options& o) {
  random::set_seed(o.seed);
  const parabola::Points given = o.data.empty() ? parabola::Points() : parabola::load(o.data);
  const Variable w(initializers::GlorotUniform()({3, 1}));
  const optimizers::Adam adam(0.1);

  const auto step = function([&] {
    const parabola::Points p = o.data.empty() ? parabola::draw() : given;  // other points at each step
    return adam.minimize(
        [&] {
          const Tensor error = matmul(parabola::features(p.x), w) - p.y;
          return nn::l2_loss(error) + 0.1 * nn::l2_loss(w);  // the penalty keeps the weights small
        },
        {w});
  });

  for (std::int64_t i = 0; i < o.steps; ++i) {
    const Tensor loss = step();
    if (i != 0 && (i + 1) % 250 != 0 && i + 1 != o.steps) continue;
    fmt::print("step {:5}  loss {:.4g}\n", i + 1, program::checked_loss(loss.item<float>()));
  }
  parabola::print(w, o.data.empty() ? "found (the points are of y = 5 x^2 + 3)" : "found");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::Options o;
  CLI::App app("Fits a parabola to points.");
  program::add_options(app, o, "a CSV file with the columns x and y; default: points of y = 5 x^2 + 3");
  return program::run("polynomial_fit", app, argc, argv, o, fit);
}
