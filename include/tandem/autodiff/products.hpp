// Jacobian-vector and Hessian-vector products, both by differentiating backward passes: there are no forward-mode
// rules.
#pragma once
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/create/fill.hpp"

namespace TANDEM_NS {

/// Jacobian-vector product (d f / d x) v: the derivative of f at x along v.
///   f         Tensor -> Tensor, twice differentiable
///   x, v      floating, of the same shape
///   returns   f(x)'s shape
template <class F>
Tensor jvp(const F& f, const Tensor& x, const Tensor& v) {
  // The backward pass u -> u^T J is linear in u, so its own gradient with respect to u is J v for any u.
  GradientTape outer;
  GradientTape inner;
  inner.watch(x);
  const Tensor y = f(x);
  const Tensor u = zeros_like(y);
  outer.watch(u);
  const Tensor g = inner.gradient(y, x, {.output_gradients = {u}, .unconnected_gradients = UnconnectedGradients::zero});
  return outer.gradient(g, u, {.output_gradients = {v}, .unconnected_gradients = UnconnectedGradients::zero});
}

/// Hessian-vector product H v for the Hessian H of a scalar function f at x.
///   x, v      floating, of the same shape, which is also the result's
template <class F>
Tensor hessian_vector_product(const F& f, const Tensor& x, const Tensor& v) {
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor g = inner.gradient(f(x), x, {.unconnected_gradients = UnconnectedGradients::zero});
  return outer.gradient(g, x, {.output_gradients = {v}, .unconnected_gradients = UnconnectedGradients::zero});
}

}  // namespace TANDEM_NS
