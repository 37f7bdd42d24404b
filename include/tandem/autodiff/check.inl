// Definitions of autodiff/check.hpp.
#pragma once
#include <cmath>
#include <complex>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/core/print.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::test {
namespace detail {

TANDEM_INLINE std::vector<double> to_double(const Tensor& t) {
  if (t.dtype() == DType::float64) return t.to_vector<double>();
  std::vector<double> r;
  if (is_complex(t.dtype())) {
    for (const std::complex<double> z : cast(t, DType::complex128).to_vector<std::complex<double>>())
      r.push_back(z.real()), r.push_back(z.imag());
    return r;
  }
  const std::vector<float> v = t.to_vector<float>();
  return {v.begin(), v.end()};
}
TANDEM_INLINE Tensor from_double(const std::vector<double>& v, const Spec& like) {
  Tensor t;
  if (is_complex(like.dtype)) {
    std::vector<std::complex<double>> z;
    for (std::size_t i = 0; i + 1 < v.size(); i += 2) z.emplace_back(v[i], v[i + 1]);
    t = cast(constant(z, {.shape = like.shape}), like.dtype);
  } else if (like.dtype == DType::float64) {
    t = constant(v, {.shape = like.shape});
  } else {
    t = constant(std::vector<float>(v.begin(), v.end()), {.shape = like.shape});
  }
  return t.device() == like.device ? t : t.to(like.device);
}
TANDEM_INLINE Tensor jacobian_of(const std::vector<double>& j, std::size_t rows) {
  const auto n = static_cast<i64>(rows);
  return constant(j, {.shape = {n, n ? static_cast<i64>(j.size()) / n : 0}});
}

// The number of real numbers in tensors that can be differentiated.
TANDEM_INLINE std::size_t count_reals(const char* what, const std::vector<Tensor>& list) {
  std::size_t n = 0;
  for (const Tensor& t : list) {
    const DType d = t.dtype();
    if (d != DType::float32 && d != DType::float64 && !is_complex(d))
      errors::raise<errors::InvalidArgumentError>(
          "compute_gradient", std::string("differences need float32, float64 or complex ") + what + ", not " +
                                  to_string(t.spec()) + " (cast it)");
    n += static_cast<std::size_t>(t.size()) * (is_complex(d) ? 2 : 1);
  }
  return n;
}
TANDEM_INLINE std::vector<double> all_values(const std::vector<Tensor>& list) {
  std::vector<double> r;
  for (const Tensor& t : list)
    for (const double v : to_double(t)) r.push_back(v);
  return r;
}
// Row j, column k: the derivative of the k-th of n_y numbers by the j-th of x[i].
TANDEM_INLINE std::vector<std::vector<double>> theory_of(Function f, const std::vector<Tensor>& x, std::size_t& n_y) {
  GradientTape tape({.persistent = true});
  for (const Tensor& t : x) tape.watch(t);
  const std::vector<Tensor> outputs = f.call(f.self, x);
  const auto pause = tape.stop_recording();
  n_y = count_reals("results", outputs);
  std::vector<std::vector<double>> theory(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) theory[i].resize(count_reals("inputs", {x[i]}) * n_y);
  std::size_t column = 0;
  for (const Tensor& y : outputs) {
    const std::size_t n = count_reals("results", {y});
    for (std::size_t k = 0; k < n; ++k, ++column) {
      std::vector<double> one(n);
      one[k] = 1;
      const std::vector<Tensor> g = tape.gradient(
          y, x,
          {.output_gradients = {from_double(one, y.spec())}, .unconnected_gradients = UnconnectedGradients::zero});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::vector<double> values = to_double(g[i]);
        for (std::size_t j = 0; j < values.size(); ++j) theory[i][j * n_y + column] = values[j];
      }
    }
  }
  return theory;
}

TANDEM_INLINE std::vector<Jacobians> compute_gradient(Function f, const std::vector<Tensor>& x, CheckOptions options) {
  (void)count_reals("inputs", x);
  std::size_t n_y = 0;
  const std::vector<std::vector<double>> theory = theory_of(f, x, n_y);
  std::vector<Jacobians> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<double> at = to_double(x[i]);
    const std::size_t n_x = at.size();
    std::vector<double> numeric(n_x * n_y);
    for (std::size_t j = 0; j < n_x; ++j) {
      std::vector<double> side[2];
      for (int s = 0; s < 2; ++s) {
        std::vector<double> moved = at;
        moved[j] += s ? -options.delta : options.delta;
        std::vector<Tensor> in = x;
        in[i] = from_double(moved, x[i].spec());
        side[s] = all_values(f.call(f.self, in));
      }
      for (std::size_t k = 0; k < n_y; ++k) numeric[j * n_y + k] = (side[0][k] - side[1][k]) / (2 * options.delta);
    }
    result.push_back({jacobian_of(theory[i], n_x), jacobian_of(numeric, n_x)});
  }
  return result;
}

}  // namespace detail

TANDEM_INLINE double max_error(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()))
    errors::raise<errors::InvalidArgumentError>("max_error", to_string(a.spec()) + " against " + to_string(b.spec()));
  const std::vector<double> x = detail::to_double(a), y = detail::to_double(b);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = std::fabs(x[i] - y[i]);
    if (!(e <= worst)) worst = e;
    if (std::isnan(worst)) break;
  }
  return worst;
}

namespace detail {
inline bool is_close(std::complex<double> a, std::complex<double> b, const AllCloseOptions& o) {
  if (a == b || (std::isnan(std::abs(a)) && std::isnan(std::abs(b)))) return true;
  const double difference = std::abs(a - b), bound = o.atol + o.rtol * std::abs(b);
  return difference <= bound && std::isfinite(bound);
}
}  // namespace detail

TANDEM_INLINE void assert_all_close(const Tensor& a, const Tensor& b, const AllCloseOptions& o) {
  const auto fail = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("assert_all_close", (o.message.empty() ? "" : o.message + ": ") + what);
  };
  if (!(a.shape() == b.shape()))
    fail("the shapes of " + to_string(a.spec()) + " and " + to_string(b.spec()) + " differ");
  const auto x = cast(a, complex128).to_vector<std::complex<double>>(),
             y = cast(b, complex128).to_vector<std::complex<double>>();
  std::size_t count = 0, first = 0;
  for (std::size_t i = x.size(); i-- > 0;)
    if (!detail::is_close(x[i], y[i], o)) ++count, first = i;
  if (count == 0) return;
  const auto at = static_cast<i64>(first);
  const auto text = [at](const Tensor& t) { return values_to_string(reshape(t, {-1})[at]); };
  fail(std::to_string(count) + " of " + std::to_string(x.size()) + " elements differ, first at " +
       index_to_string(a.shape(), at) + ": " + text(a) + " and " + text(b));
}

TANDEM_INLINE bool is_gpu_available() { return !config::list_logical_devices("GPU").empty(); }

}  // namespace TANDEM_NS::test
