// Comparison of operations with golden values: cases of a .npz file made by make.py, each run in float64 and float32,
// forward and backward.
#pragma once
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/io/npz.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/source_folder.hpp"

namespace golden {

using namespace tandem;

struct GoldenCase {
  std::string name;                // op:number
  std::vector<Tensor> x, y, w, g;  // inputs, outputs, weights, gradients (unset where there is none)
  std::vector<i64> p;
  std::vector<double> q;

  int integer(std::size_t i) const { return static_cast<int>(p.at(i)); }
};
using GoldenList = std::vector<Tensor>;
/// Calls the operation on inputs x, with the parameters of the case.
using Call = GoldenList (*)(const GoldenCase& c, const GoldenList& x);

/// What an error is relative to: the element that is wrong, or, where terms cancel, the largest of the result.
enum class Of { element, largest };
struct GoldenBounds {
  Of output = Of::element, gradient = Of::element;
  double float64 = 1e-13, float32 = 2e-6;          // of outputs
  double gradient64 = 8e-13, gradient32 = 1.6e-5;  // of gradients
};
/// For sums, products and convolutions.
inline constexpr GoldenBounds sums{.output = Of::largest, .gradient = Of::largest};
struct GoldenOp {
  Call call;
  GoldenBounds bounds = {};
};

namespace detail {

inline void put(GoldenList& list, const std::string& number, Tensor t) {
  const auto at = static_cast<std::size_t>(std::stoi(number));
  if (list.size() <= at) list.resize(at + 1);
  list[at] = std::move(t);
}
inline std::map<std::string, GoldenCase> load(const std::string& family) {
  std::map<std::string, GoldenCase> cases;
  for (io::NamedTensor& a : io::load_npz(testing::source_folder() + "/tests/golden/" + family + ".npz")) {
    const std::size_t slash = a.name.find('/');
    const std::string name = a.name.substr(0, slash), part = a.name.substr(slash + 1), number = part.substr(1);
    GoldenCase& c = cases[name];
    c.name = name;
    if (part == "p") c.p = a.tensor.to_vector<i64>();
    else if (part == "q") c.q = a.tensor.to_vector<double>();
    else put(part[0] == 'x' ? c.x : part[0] == 'y' ? c.y : part[0] == 'w' ? c.w : c.g, number, std::move(a.tensor));
  }
  return cases;
}

// Real numbers of a tensor of any numeric dtype; complex ones as pairs.
inline std::vector<double> numbers(const Tensor& t) {
  if (is_complex(t.dtype())) {
    const Tensor wide = cast(t, complex128);
    const auto* const parts = static_cast<const double*>(wide.raw());
    return {parts, parts + 2 * wide.size()};
  }
  return cast(t, float64).to_vector<double>();
}
inline double largest(const std::vector<double>& v) {
  double r = 0;
  for (const double x : v)
    if (std::isfinite(x)) r = std::max(r, std::fabs(x));
  return r;
}
inline void compare(const std::string& what, const Tensor& got, const Tensor& want, Of of, double tolerance) {
  INFO(what);
  REQUIRE(got.is_set());
  REQUIRE(got.shape() == want.shape());
  const std::vector<double> a = numbers(got), b = numbers(want);
  const double top = std::max(largest(b), 1e-3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double bound = of == Of::largest ? tolerance * top : tolerance * std::fabs(b[i]) + 1e-35;
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) || std::fabs(a[i] - b[i]) <= bound;
    if (!same) FAIL_CHECK("element " << i << " is " << a[i] << ", not " << b[i]);
    if (!same) return;
  }
}
inline Tensor in_precision(const Tensor& t, DType real) {
  if (is_complex(t.dtype())) return cast(t, real == float64 ? complex128 : complex64);
  return is_floating(t.dtype()) ? cast(t, real) : t;
}

inline void check_gradients(const GoldenCase& c, const GoldenOp& op, const GoldenList& x, DType real) {
  const double tolerance = real == float64 ? op.bounds.gradient64 : op.bounds.gradient32;
  GradientTape tape;
  GoldenList sources;
  for (std::size_t i = 0; i < c.g.size(); ++i)
    if (c.g[i].is_set()) tape.watch(x[i]), sources.push_back(x[i]);
  if (sources.empty()) return;
  const GoldenList y = op.call(c, x);
  GoldenList targets, upstream;
  for (std::size_t i = 0; i < c.w.size(); ++i)
    if (c.w[i].is_set()) targets.push_back(y.at(i)), upstream.push_back(cast(in_precision(c.w[i], real), y[i].dtype()));
  const GoldenList g = tape.gradient(
      targets, sources, {.output_gradients = upstream, .unconnected_gradients = UnconnectedGradients::zero});
  for (std::size_t i = 0, k = 0; i < c.g.size(); ++i)
    if (c.g[i].is_set()) compare("gradient " + std::to_string(i), g[k++], c.g[i], op.bounds.gradient, tolerance);
}
inline void check_case(const GoldenCase& c, const GoldenOp& op, DType real) {
  INFO(c.name << " in " << name(real));
  const double tolerance = real == float64 ? op.bounds.float64 : op.bounds.float32;
  GoldenList x;
  for (const Tensor& t : c.x) x.push_back(in_precision(t, real));
  const GoldenList y = op.call(c, x);
  REQUIRE(y.size() == c.y.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    compare("output " + std::to_string(i), y[i], c.y[i], op.bounds.output, tolerance);
  check_gradients(c, op, x, real);
}

}  // namespace detail

/// Runs all cases of tests/golden/<family>.npz. Every case needs an op of that name, and every op a case.
///   others    the prefixes of cases that another test compares
inline void check(const std::string& family, const std::map<std::string, GoldenOp>& ops,
                  const std::vector<std::string>& others = {}) {
  std::set<std::string> met;
  for (const auto& [name, c] : detail::load(family)) {
    const std::string op = name.substr(0, name.find(':'));
    bool is_other = false;
    for (const std::string& prefix : others) is_other |= op.rfind(prefix, 0) == 0;
    if (is_other) continue;
    INFO(name);
    REQUIRE(ops.count(op));
    met.insert(op);
    for (const DType real : {float64, float32}) detail::check_case(c, ops.at(op), real);
  }
  for (const auto& [name, op] : ops)
    if (!met.count(name)) FAIL_CHECK("no case of " << name);
}

}  // namespace golden

// An entry of check()'s map: the operation as an expression over c (the case) and x (the inputs); its bounds.
#define GOLDEN_WITHIN(bounds, name, ...)                           \
  {                                                                \
    name, GoldenOp {                                               \
      [](const GoldenCase& c, const GoldenList& x) -> GoldenList { \
        return (void)c, (void)x, GoldenList{__VA_ARGS__};          \
      },                                                           \
          bounds                                                   \
    }                                                              \
  }
#define GOLDEN_OP(name, ...) GOLDEN_WITHIN(GoldenBounds{}, name, __VA_ARGS__)
#define GOLDEN_SUM(name, ...) GOLDEN_WITHIN(sums, name, __VA_ARGS__)
