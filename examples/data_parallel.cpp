// data_parallel: one batch in slices. Fits the parabola of polynomial_fit with 1, 2 and 4 slices a step; the weights
// are the same, as the loss is a mean over all rows, and only the line that calls the model changes.
#include <fmt/core.h>

#include <tandem/distribute.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/on_device.hpp"
#include "examples/support/parabola.hpp"

using namespace tandem;

namespace {

struct Options : program::Options {
  std::int64_t batch = 100;
  std::vector<std::string> devices;
};

Tensor fit(const distribute::Slices& slices, const Options& o) {
  random::set_seed(o.seed);  // the same points and start for each number of slices
  const parabola::Points given = o.data.empty() ? parabola::Points() : parabola::load(o.data);
  const Variable w(initializers::GlorotUniform()({3, 1}));  // shared by all slices
  const optimizers::Adam adam(0.1);
  const auto squared_error = [&](const Tensor& x, const Tensor& y) {
    return square(matmul(parabola::features(x), w) - y);
  };
  const auto step = function([&] {
    const parabola::Points p = o.data.empty() ? parabola::draw(o.batch) : given;
    return adam.minimize([&] { return reduce_mean(distribute::make_parallel(squared_error, slices, p.x, p.y)); }, {w});
  });
  Tensor loss;
  for (std::int64_t i = 0; i < o.steps; ++i) loss = step();
  parabola::print(w, fmt::format("{} slice{}", slices.count(), slices.count() == 1 ? " " : "s"));
  return w;
}

int compare(const Options& o) {
  std::vector<distribute::Slices> ways{1, 2, 4};
  config::set_logical_cpu_devices(4);  // so that --devices also takes CPU:1 to CPU:3
  std::vector<Device> devices;
  for (const std::string& name : o.devices) devices.push_back(device_named(name));
  if (!devices.empty()) ways.emplace_back(devices);

  std::vector<Tensor> weights;
  float difference = 0;
  for (const distribute::Slices& slices : ways) {
    weights.push_back(fit(slices, o));
    const float d = reduce_max(abs(weights.back() - weights[0])).item<float>();
    if (!(d <= difference)) difference = d;  // NaN, too
  }
  fmt::print("largest difference of a weight: {:.1e}\n", difference);

  const Tensor a = reshape(range(0.f, 20.f), {10, 2});
  std::string sizes;
  const auto add = [&](const Tensor& x, const Tensor& y) {
    sizes += " " + to_string(x.shape()[0]);
    return x + y;
  };
  const bool equal = reduce_all(distribute::make_parallel(add, 4, a, 10 * a) == 11 * a).item<bool>();
  fmt::print("a + b of 10 rows in slices of{}: {}\n", sizes, equal ? "equal" : "different");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Fits a parabola, with each batch divided into slices.");
  program::add_options(app, o, "a CSV file with the columns x and y; default: points of y = 5 x^2 + 3");
  arguments::add(app, "--batch", o.batch, 1, "points of a step");
  app.add_option("--devices", o.devices, "one slice more for each, such as GPU:0 GPU:1, or CPU:0 to CPU:3");
  return program::run("data_parallel", app, argc, argv, o, compare);
}
