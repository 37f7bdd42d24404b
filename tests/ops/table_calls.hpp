// What the generated tests share: walking the table's samples, comparing tensors, copies. Not here: the samples.
#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/op_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/tested_ops.hpp"

namespace table_calls {

/// f(call) for every sampled call of every op, under a note that names them.
template <class F>
void for_each_call(tandem::DType real, const F& f) {
  for (const tandem::OpDef* op : samples::tested_ops()) {
    const std::vector<samples::Call> calls = samples::calls_of(*op, real);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      INFO(op->name << ", call " << k);
      f(calls[k]);
    }
  }
}

inline bool has_gradient(const tandem::OpDef& op) {
  return op.gradient || op.rare.decomposition || op.rare.backward_of;
}

/// Outputs beyond these serve the gradient alone (an LSTM's gates).
inline std::size_t public_outputs(const samples::Call& c, const tandem::Tensors& out) {
  return c.op->rare.decomposition ? c.op->rare.decomposition(c.in, c.attrs).size() : out.size();
}

/// The gradients of all floating outputs of a call on these inputs, weighted by numbers, to all floating inputs that
/// are not bound to the host.
inline std::vector<tandem::Tensor> gradients_of(const samples::Call& c, const std::vector<tandem::Tensor>& in) {
  using namespace tandem;
  std::vector<Tensor> x, targets, weights;
  GradientTape tape;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (is_floating(in[i].dtype()) && !in[i].is_symbolic() && !lives_on_host(*c.op, i, in.size())) {
      tape.watch(in[i]);
      x.push_back(in[i]);
    }
  samples::Numbers numbers(float32);
  for (const Tensor& y : samples::apply_to(c, in))
    if (is_floating(y.dtype())) {
      targets.push_back(y);
      weights.push_back(cast(numbers.reals(y.shape()), y.dtype()).to(y.device()));
    }
  if (targets.empty() || x.empty()) return {};
  return tape.gradient(targets, x, {.output_gradients = weights});
}

inline tandem::Tensor zeros_of(const tandem::Spec& spec) {
  tandem::Tensor t = tandem::Tensor::allocate(spec);
  if (spec.dtype != tandem::string) std::memset(t.raw(), 0, spec.bytes());
  return t;
}
inline tandem::Tensor copy_of(const tandem::Tensor& t) {
  if (t.is_symbolic() || t.dtype() == tandem::string) return t;
  tandem::Tensor r = tandem::Tensor::allocate(t.spec());
  std::memcpy(r.raw(), t.raw(), t.spec().bytes());
  return r;
}
inline bool same_bits(const tandem::Tensor& a, const tandem::Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == tandem::string) return a.to_vector<std::string>() == b.to_vector<std::string>();
  const tandem::Tensor x = a.cpu(), y = b.cpu();
  return std::memcmp(x.raw(), y.raw(), x.spec().bytes()) == 0;
}
inline std::vector<double> as_doubles(const tandem::Tensor& t) {
  return tandem::cast(t, tandem::float64).to_vector<double>();
}
/// The largest difference, relative to the largest number of b, or to `least` if that is larger (nothing is relative to
/// 0); infinite for NaN against a number.
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b, double least = 1e-3) {
  double worst = 0, scale = least;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i])) scale = std::fmax(scale, std::fabs(b[i]));
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double e = std::fabs(a[i] - b[i]);
    worst = e <= worst ? worst : std::isnan(e) ? INFINITY : e;
  }
  return worst / scale;
}

/// The largest number of the floating inputs: rounding errors that they bring along are relative to it.
inline double largest_input(const samples::Call& c) {
  double largest = 1e-3;
  for (const tandem::Tensor& t : c.in)
    if (tandem::is_floating(t.dtype()) && !t.is_symbolic())
      for (const double x : as_doubles(t)) largest = std::fmax(largest, std::fabs(x));
  return largest;
}

/// Operands at which a function of a call's operands is differentiated: where the op reads one triangle of a
/// self-adjoint matrix, and its gradient is self-adjoint, the matrix is made so first.
inline std::vector<tandem::Tensor> self_adjoint(const samples::Call& c, std::vector<tandem::Tensor> in) {
  using namespace tandem;
  if (std::string(c.op->name) == "cholesky") in[0] = 0.5 * (in[0] + linalg::adjoint(in[0]));
  return in;
}
/// Whether results are determined up to factors of modulus 1, or up to their order, so that complex numbers give
/// others than real ones, and only some functions of them are differentiable. Tests of those: tests/linalg.
inline bool has_free_phases(const tandem::OpDef& op) {
  const std::string name = op.name;
  return name == "svd" || name == "eigh" || name == "eig" || name == "eigvals";
}

}  // namespace table_calls
