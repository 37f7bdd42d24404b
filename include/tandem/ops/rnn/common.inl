// Shape rules, gradients and masks of the lstm and gru ops.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::detail {

inline bool fits(const Shape& s, const Shape& want) { return s.is_compatible_with(want); }

/// x [t, b, i], `states` of [b, u], kernel [i, gates u], recurrent kernel [u, gates u], bias, lengths [b].
TANDEM_INLINE void check_rnn(const InferCall& c, int gates, int states, Shape bias) {
  const Shape &x = c.spec(0).shape, &h = c.spec(1).shape;
  if (x.rank() != 3 || h.rank() != 2)
    raise_specs(c, "needs an input [time, batch, features] and states [batch, units]");
  const i64 wide = h.dim(1) == none ? none : gates * h.dim(1);
  if (bias.rank() == 0) bias = {wide};
  bool ok = true;
  const auto k = static_cast<std::size_t>(1 + states);
  for (std::size_t i = 1; i < k; ++i) ok &= fits(c.spec(i).shape, {x.dim(1), h.dim(1)});
  ok &= fits(c.spec(k).shape, {x.dim(2), wide}) && fits(c.spec(k + 1).shape, {h.dim(1), wide}) &&
        fits(c.spec(k + 2).shape, bias);
  for (std::size_t i = 1; i < k + 3; ++i) ok &= c.spec(i).dtype == c.spec(0).dtype;
  if (c.in.size() > k + 3) ok &= fits(c.spec(k + 3).shape, {x.dim(1)}) && dtypes::index.has(c.spec(k + 3).dtype);
  if (!ok)
    raise_specs(c, "shapes or dtypes do not match: expected input [t,b,i], states [b,u], kernel [i," +
                       std::to_string(gates) + "u], recurrent kernel [u," + std::to_string(gates) +
                       "u], bias, lengths [b]; got");
}

TANDEM_INLINE RnnResiduals rnn_residuals([[maybe_unused]] const Spec& x, i64 units, int gates,
                                         [[maybe_unused]] bool lengths) {
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
  if (!lengths && x.device.kind == Device::gpu && x.dtype == DType::float32)
    if (const i64 width = cuda::rnn_reserve(x.shape, units, x.device.index, gates == 3))
      return {width, width == none ? none : 0};
#endif
  return {units == none ? none : gates * units, units};
}
TANDEM_INLINE Tensor upstream_or_zeros(const GradCall& c, std::size_t i) {
  return c.g[i].is_set() ? c.g[i] : zeros_like(c.out[i]);
}
TANDEM_INLINE Grads rnn_gradient(const OpDef& grad, const InlinedVector<Tensor, 16>& all, const GradCall& c,
                                 unsigned inputs) {
  InlinedVector<const Tensor*, 16> in;
  for (const Tensor& t : all) in.push_back(&t);
  Tensors out = apply(grad, {in.begin(), in.size()}, rules::RnnGradAttrs{c.needs(0)});
  Grads r;
  for (unsigned i = 0; i < inputs; ++i) r.push_back(i == 0 && !c.needs(0) ? Gradient() : Gradient(std::move(out[i])));
  return r;
}
// Whether the residuals on a GPU are those of our kernels or of cuDNN, whichever would compute the op now. y [t, b, u].
TANDEM_INLINE bool are_residuals(const InferCall& c, std::size_t gates, const Shape& y) {
  const Spec &first = c.spec(gates), &second = c.spec(gates + 1), &x = c.spec(0);
  const i64 units = y.dim(2), wide = c.spec(c.op.rare.backward_of->inputs - 1u).shape.dim(-1);
  if (first.dtype != x.dtype || second.dtype != x.dtype) return false;
  const bool of_cudnn = second.shape.rank() == 3 && second.shape.dim(2) == 0 && units != 0;
  return fits(first.shape, {y.dim(0), y.dim(1), of_cudnn ? none : wide}) &&
         fits(second.shape, {y.dim(0), y.dim(1), of_cudnn ? 0 : units});
}
// After the forward op's inputs come the values it saved (its first output and those after the public ones) and the
// gradients of the public outputs. All must have the shapes that the forward op's rule infers.
TANDEM_INLINE void check_rnn_grad(const InferCall& c) {
  const BackwardOf& at = *c.op.rare.backward_of;
  const std::size_t lengths = at.upstream + std::size_t{at.outputs};
  InlinedVector<const Tensor*, 8> in;
  for (std::size_t i = 0; i < at.inputs; ++i) in.push_back(c.in[i]);
  if (c.in.size() > lengths) in.push_back(c.in[lengths]);
  const Specs made = at.forward->infer({c.op, {in.begin(), in.size()}, no_attrs, c.options});
  const auto agrees = [&](std::size_t i, std::size_t k) {
    return c.spec(i).dtype == made[k].dtype && fits(c.spec(i).shape, made[k].shape);
  };
  bool ok = agrees(at.inputs, 0);
  const std::size_t gates = at.inputs + 1u;  // then the second residual
  if (c.spec(gates).device.kind == Device::gpu) ok &= are_residuals(c, gates, made[0].shape);
  else ok &= agrees(gates, at.outputs) && agrees(gates + 1, at.outputs + 1u);
  for (std::size_t k = 0; k < at.outputs; ++k) ok &= agrees(at.upstream + k, k);
  if (!ok) raise_specs(c, "the shapes of saved values or gradients do not match the results");
}
// The specs of the inputs, with an empty one for x if its gradient is not requested.
TANDEM_INLINE Specs infer_rnn_grad(const InferCall& c) {
  check_rnn_grad(c);
  Specs out;
  for (std::size_t i = 0; i < c.op.rare.backward_of->inputs; ++i) out.push_back(c.spec(i));
  if (!c.get<rules::RnnGradAttrs>().input) out[0].shape = {0};
  return out;
}

// The steps of a cell, as a loop of the trace or one after another.
struct RnnReference {
  Span<const Tensor> weights;
  RnnCell cell;

  // states..., x, and which rows run, unless all do -> states..., output. A row keeps its states after its last step.
  std::vector<Tensor> step(Span<const Tensor> in, std::size_t states) const {
    std::vector<Tensor> next = cell.call(in.first(states + 1), weights);
    next.push_back(next[0]);
    if (in.size() == states + 1) return next;
    const Tensor runs = expand_dims(in.back(), -1);
    for (std::size_t i = 0; i <= states; ++i)
      next[i] = where(runs, next[i], i < states ? in[i] : scalar_like(0, next[i]));
    return next;
  }
  std::vector<Tensor> staged(const char* op, std::vector<Tensor> start, std::vector<Tensor> rows) const {
    const std::size_t states = start.size();
    const auto body = [&](Span<const Tensor> in) { return step(in, states); };
    using Body = decltype(body);
    const LoopBody code{[](const void* self, Span<const Tensor> in) { return (*static_cast<Body*>(self))(in); }, &body};
    return TANDEM_VIRTUAL(*context.stager, Stager::loop)(op, std::move(start), std::move(rows), code);
  }
  std::vector<Tensor> unrolled(std::vector<Tensor> state, const std::vector<Tensor>& rows) const {
    const std::size_t states = state.size();
    std::vector<std::vector<Tensor>> steps;
    for (const Tensor& t : rows) steps.push_back(unstack(t));
    std::vector<Tensor> outputs;
    for (std::size_t t = 0; t < steps[0].size(); ++t) {
      for (const std::vector<Tensor>& row : steps) state.push_back(row[t]);
      state = step(state, states);
      outputs.push_back(std::move(state.back()));
      state.pop_back();
    }
    state.push_back(outputs.empty() ? Tensor() : stack(outputs));
    return state;
  }
};
// [t, b]: whether row b still runs at step t.
TANDEM_INLINE Tensor steps_within(const Tensor& lengths, const Tensor& x) {
  const DimValue t = get_shape(x)[0];
  const DeviceScope there(x.device());  // a range on the CPU would move x there
  const Tensor steps = cast(t.is_known() ? range(t.number) : range(t.tensor), lengths.dtype());
  return less(expand_dims(steps, 1), expand_dims(lengths, 0));
}
TANDEM_INLINE Tensor within_lengths(const Tensor& x, const Tensor& lengths) {
  if (!lengths.is_set() || x.rank() < 2 || lengths.rank() != 1)
    return x;  // other ranks are errors, which the op raises
  const ShapeChecks lenient(false);
  Tensor runs = steps_within(lengths, x);
  while (runs.rank() < x.rank()) runs = expand_dims(runs, -1);
  return where(runs, x, scalar_like(0, x));
}
TANDEM_INLINE Tensors rnn_reference(const char* op, Span<const Tensor> in, std::size_t states, RnnCell cell) {
  const DType dtype = in[0].dtype();
  const std::vector<Tensor> wide = all_widened(in);
  const Tensor lengths = wide.size() > states + 4 ? wide[states + 4] : Tensor(), x = within_lengths(wide[0], lengths);
  const auto first = wide.begin() + 1, end = first + static_cast<std::ptrdiff_t>(states);
  const RnnReference steps{Span<const Tensor>(wide).subspan(1 + states).first(3), cell};
  std::vector<Tensor> start(first, end), rows{x};
  if (lengths.is_set()) rows.push_back(steps_within(lengths, x));
  std::vector<Tensor> r =
      x.shape().dim(0) == none ? steps.staged(op, std::move(start), std::move(rows)) : steps.unrolled(start, rows);
  Tensor output = std::move(r.back());
  if (!output.is_set()) {
    const Dim b = get_shape(x)[1], u = get_shape(wide[1])[1];
    output = zeros({0, b, u}, {.dtype = dtype});
  }
  Tensors out(cast(output, dtype));
  for (std::size_t i = 0; i < states; ++i) out.push_back(cast(r[i], dtype));
  return out;
}

}  // namespace TANDEM_NS::detail
