// linear_regression: the same weights in six ways, from a formula to an optimizer with momentum, and by mini-batches.
// In float64, so that one can see how closely they agree, or in float32 (--dtype).
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/linalg.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/on_device.hpp"

using namespace tandem;

namespace {

constexpr double rate = 0.01;

struct Options : program::Options {
  std::string dtype = "float64";
};
struct Problem {
  Tensor a, y;                     // [m, n], a column of ones first, and [m, 1]
  std::vector<std::string> names;  // of the columns of a
};
struct Solution {
  const char* way;
  Tensor theta;  // [n, 1]
};

Tensor with_ones(const Tensor& x) { return concat({ones({x.shape()[0], 1}, float64), x}, 1); }

// 2000 rows of 8 standard normal features; the weights are 0.1, 0.2, ... 0.9, the noise has a deviation of 0.1.
Problem generated() {
  Problem p{with_ones(random::normal({2000, 8}, 0, 1, float64)), {}, {"bias"}};
  const Tensor theta = cast(reshape(range(1, 10), {9, 1}), float64) / 10;
  p.y = matmul(p.a, theta) + random::normal({2000, 1}, 0, 0.1, float64);
  for (int i = 1; i <= 8; ++i) p.names.push_back("feature " + std::to_string(i));
  return p;
}
// The last column of a CSV file from the others, which are scaled to mean 0 and variance 1.
Problem loaded(const std::string& path) {
  const data::Table table = data::load_csv(path);
  if (table.rows() < 2 || table.columns().size() < 2)
    throw std::runtime_error(path + " needs two columns and two rows at least");
  std::vector<std::string> names = table.columns();
  const std::string target = names.back();
  names.pop_back();
  const Tensor x = table.numbers(names, {.dtype = float64, .finite = true});
  const Tensor scaled = (x - reduce_mean(x, {0})) / (reduce_std(x, {0}) + 1e-12);
  names.insert(names.begin(), "bias");
  return {with_ones(scaled), table.numbers({target}, {.dtype = float64, .finite = true}), names};
}

Tensor mse(const Tensor& a, const Tensor& y, const Tensor& theta) { return reduce_mean(square(matmul(a, theta) - y)); }
double number(const Tensor& x) { return cast(x, float64).item<double>(); }
double largest_difference(const Tensor& a, const Tensor& b) {
  return program::checked_loss(number(reduce_max(abs(a - b))));
}

// Runs update(theta) `steps` times, as a traced function.
template <class Update>
Tensor descend(const Tensor& start, std::int64_t steps, const Update& update) {
  const Variable theta(start);
  const auto step = function([&] { update(theta); });
  for (std::int64_t i = 0; i < steps; ++i) step();
  return theta;
}

std::vector<Solution> solve(const Problem& p, const Tensor& start, std::int64_t steps) {
  const double m = static_cast<double>(p.a.shape()[0]);
  const Tensor at = transpose(p.a);
  const Variable lr(constant(rate, start.dtype()).cpu());  // a rate of the same dtype, on the host
  const optimizers::SGD sgd(lr), momentum(lr, 0.25);
  const auto by_hand = [&](const Variable& theta) {
    theta.assign_sub(rate * 2 / m * matmul(at, matmul(p.a, theta) - p.y));
  };
  const auto by_tape = [&](const Variable& theta) {
    GradientTape tape;
    theta.assign_sub(rate * tape.gradient(mse(p.a, p.y, theta), theta));
  };
  const auto by = [&](const Optimizer& optimizer) {
    return [&](const Variable& theta) { optimizer.minimize([&] { return mse(p.a, p.y, theta); }, {theta}); };
  };
  const Tensor normal = matmul(at, p.a).cpu(), right = matmul(at, p.y).cpu();  // where linalg computes
  return {{"normal eq.", matmul(linalg::inv(normal), right)},
          {"lstsq", linalg::lstsq(p.a.cpu(), p.y.cpu())},
          {"by hand", descend(start, steps, by_hand)},
          {"tape", descend(start, steps, by_tape)},
          {"SGD", descend(start, steps, by(sgd))},
          {"momentum", descend(start, steps, by(momentum))}};
}

// SGD on batches of 100 rows: the gradient is divided by the rows of the batch, and every batch trains.
Tensor by_batches(const Problem& p, const Tensor& start, std::int64_t epochs, std::int64_t seed) {
  const auto batches = data::from_tensor_slices({p.a, p.y}).shuffle({.seed = seed}).batch(100);
  const Variable theta(start);
  const optimizers::SGD sgd(Variable(constant(rate, start.dtype()).cpu()));
  const auto step =
      function([&](const Tensor& a, const Tensor& y) { sgd.minimize([&] { return mse(a, y, theta); }, {theta}); });
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const auto& [a, y] : batches.epoch(epoch)) step(a, y);
  return theta;
}

int compare(const Options& o) {
  random::set_seed(o.seed);
  Problem p = o.data.empty() ? generated() : loaded(o.data);
  const DType dtype = o.dtype == "float32" ? float32 : float64;
  p.a = cast(p.a, dtype), p.y = cast(p.y, dtype);
  const Tensor start = cast(random::uniform({p.a.shape()[1], 1}, -1, 1, float64, {.seed = 42}), dtype);
  const std::vector<Solution> solutions = solve(p, start, o.steps);

  fmt::print("{:12}", "");
  for (const Solution& s : solutions) fmt::print("{:>12}", s.way);
  for (std::size_t i = 0; i < p.names.size(); ++i) {
    fmt::print("\n{:12.12}", p.names[i]);
    for (const Solution& s : solutions) fmt::print("{:>12.7f}", number(s.theta[static_cast<i64>(i)]));
  }
  fmt::print("\n{:12}", "mean sq. err");
  double difference = 0;
  for (const Solution& s : solutions) {
    fmt::print("{:>12.7f}", number(mse(p.a, p.y, s.theta)));
    difference = std::max(difference, largest_difference(s.theta, solutions[0].theta));
  }
  fmt::print("\nlargest difference from the normal equation: {:.1e}\n", difference);
  for (const std::int64_t epochs : {10, 100})
    fmt::print("mini-batches of 100, {} epochs: within {:.1e}\n", epochs,
               largest_difference(by_batches(p, start, epochs, o.seed), solutions[0].theta));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Linear regression in six ways, and by mini-batches.");
  program::add_options(app, o, "a CSV file of numbers, whose last column is predicted; default: generated");
  app.add_option("--dtype", o.dtype, "float64 or float32")
      ->check(CLI::IsMember({"float64", "float32"}))
      ->capture_default_str();
  return program::run("linear_regression", app, argc, argv, o, compare);
}
