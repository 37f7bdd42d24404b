// maximum_entropy: makes softmax(w) as uniform as it can be, by three losses that have the same value: its entropy. One
// of them stops a gradient that it needs; a gradient checker shows which one, and why it does not move.
#include <fmt/format.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/testing.hpp>

#include "examples/support/on_device.hpp"

using namespace tandem;

namespace {

// The cross entropy of softmax(w) with itself. As labels are usually data, one might stop their gradient: what is left
// is softmax(w) - labels = 0.
Tensor label_stopped(const Tensor& w) {
  return nn::softmax_cross_entropy_with_logits(stop_gradient(nn::softmax(w)), w);
}
Tensor label_followed(const Tensor& w) { return nn::softmax_cross_entropy_with_logits(nn::softmax(w), w); }
Tensor entropy(const Tensor& w) { return nn::softmax_entropy(w); }

void print(const char* what, const Tensor& w) {
  fmt::print("{:22} {:.5f}", what, fmt::join(nn::softmax(w).to_vector<double>(), " "));
}

void maximise(const char* what, Tensor (*loss)(const Tensor&), const Tensor& start, std::int64_t steps) {
  const Variable w(start);
  const optimizers::Adam adam(0.001);
  const auto step = function([&] { adam.minimize([&] { return -loss(w); }, {w}); });
  for (std::int64_t i = 0; i < steps; ++i) step();
  program::checked_loss(loss(w).item<double>());
  const double error = test::compute_gradient_error(loss, start, {.delta = 1e-5});  // against differences
  print(what, w);
  fmt::print("  {:.5f}\n", error);
}

int compare(const program::Options& o) {
  random::set_seed(o.seed);
  // In float64, as Adam would scale up what rounding to float32 leaves of a gradient that ought to be 0.
  Tensor start = random::normal({5}, 0, 1, float64);
  if (!o.data.empty()) {
    const data::Table table = data::load_csv(o.data);
    if (table.rows() == 0) throw std::runtime_error(o.data + " has no numbers");
    start = table.numbers(0, {.dtype = float64, .finite = true});
  }
  print("", start);
  fmt::print("  error of the gradient\n");
  maximise("label gradient stopped", label_stopped, start, o.steps);
  maximise("label gradient kept", label_followed, start, o.steps);
  maximise("softmax_entropy", entropy, start, o.steps);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::Options o{.steps = 10000};
  CLI::App app("Maximises the entropy of softmax(w) by three losses, one of which is wrong.");
  program::add_options(app, o, "a CSV file whose first column has the initial w; default: five normal numbers");
  return program::run("maximum_entropy", app, argc, argv, o, compare);
}
