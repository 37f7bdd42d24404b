// Definitions of layers/rnn_steps.hpp.
#pragma once
#include <string>

#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/layers/dry_run.hpp"
#include "tandem/layers/rnn_steps.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tandem/ops/rnn/last_relevant.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {

// [time, batch]: which steps of a row lie within its length.
TANDEM_INLINE Tensor running_steps(const char* layer, const Tensor& lengths, const Tensor& x) {
  using debugging::impl::Relation;
  const debugging::AssertOptions in_range{.message = "sequence_length must be in [0, time]"};
  const Tensor time = tandem::detail::size_over(x, 0, lengths.dtype());
  debugging::impl::sign(layer, Relation::greater_equal, lengths, in_range);
  debugging::impl::compared(layer, Relation::less_equal, lengths, time, in_range);
  const DimValue t = get_shape(x)[0];
  const DeviceScope there(x.device());
  const Tensor steps = cast(t.is_known() ? range(t.number) : range(t.tensor), lengths.dtype());
  const tandem::detail::ShapeChecks lenient(false);
  return less(expand_dims(steps, 1), expand_dims(lengths, 0));
}
// Row index[i, b] of x [time, batch, ...] as step i of row b.
TANDEM_INLINE Tensor take_steps(const Tensor& x, const Tensor& index) {
  const std::vector<DimValue> dims = get_shape(x);
  const bool known = dims[0].is_known() && dims[1].is_known();
  Dims flat{known ? Dim(dims[0].number * dims[1].number) : Dim(dims[0].value() * dims[1].value())};
  for (std::size_t i = 2; i < dims.size(); ++i) flat.push_back(dims[i]);
  const Tensor batch = tandem::detail::size_over(x, 1, DType::int64);
  const Tensor columns = cast(dims[1].is_known() ? range(dims[1].number) : range(dims[1].tensor), DType::int64);
  const tandem::detail::ShapeChecks lenient(false);
  return gather(reshape(x, flat), index * batch + columns);
}

TANDEM_INLINE void reverse_steps(Sequence& s) {
  if (s.mask.is_set()) s.mask = reverse(s.mask, {0});
  s.x = s.lengths.is_set() ? reverse_sequence(s.x, s.lengths, {.seq_axis = 0, .batch_axis = 1}) : reverse(s.x, {0});
}
TANDEM_INLINE void pack_steps(Sequence& s) {
  s.lengths = reduce_sum(cast(s.mask, DType::int32), {.axis = 0});
  s.x = take_steps(s.x, cast(argsort(cast(logical_not(s.mask), DType::int32), {.axis = 0}), DType::int64));
}
TANDEM_INLINE Tensor unpack_steps(const Tensor& y, const Tensor& mask) {
  const Tensor count = cumsum(cast(mask, DType::int64), {.axis = 0});
  const Tensor one = tandem::detail::scalar_like(1, count);
  const Tensor rows = take_steps(y, maximum(count, one) - one);
  return where(tandem::detail::along_axes(mask, 3u, rows.rank()), rows, tandem::detail::scalar_like(0, rows));
}
TANDEM_INLINE void merge_lengths(const char* layer, Sequence& s) {
  if (!s.lengths.is_set()) return;
  s.mask = logical_and(s.mask, running_steps(layer, s.lengths, s.x));
  s.lengths = {};
}
TANDEM_INLINE constinit const RnnMaskCode rnn_mask_code{&merge_lengths, &pack_steps, &unpack_steps};
TANDEM_INLINE Tensor drop_inputs(const Tensor& x, double rate) {
  Shape noise = x.shape();
  noise.set(0, 1);
  return nn::dropout(x, {.rate = rate, .noise_shape = noise});
}

TANDEM_INLINE Tensor swap_batch_and_time(const Tensor& x) {
  if (x.rank() == 3) return transpose(x, {.perm = {1, 0, 2}});
  Axes perm{1, 0};
  for (int i = 2; i < x.rank(); ++i) perm.push_back(i);
  return transpose(x, {.perm = perm});
}
TANDEM_INLINE void check_lengths(const char* layer, const Tensor& lengths, const Tensor& x, int batch_axis) {
  if (lengths.rank() == 1 && dtypes::index.has(lengths.dtype()) &&
      lengths.shape().is_compatible_with({x.shape().dim(batch_axis)}))
    return;
  errors::raise<errors::InvalidArgumentError>(layer, "sequence_length must be int32 or int64 [batch]; got " +
                                                         to_string(lengths.spec()) + " for " + to_string(x.spec()));
}
TANDEM_INLINE void check_mask(const char* layer, const Tensor& mask, const Tensor& x) {
  if (mask.dtype() == DType::bool_ && mask.shape().is_compatible_with({x.shape().dim(0), x.shape().dim(1)})) return;
  errors::raise<errors::InvalidArgumentError>(
      layer, "the mask must be bool_ with the first two axes of the input; got " + to_string(mask.spec()) + " for " +
                 to_string(x.spec()));
}

}  // namespace detail

TANDEM_INLINE RnnMask RnnMask::within(const char* layer, const Tensor& lengths, bool time_major) const {
  const Tensor steps = time_major ? mask_ : detail::swap_batch_and_time(mask_);
  detail::Sequence s{steps, lengths, steps};
  code_->merge_lengths(layer, s);
  return with(time_major ? s.mask : detail::swap_batch_and_time(s.mask));
}
TANDEM_INLINE detail::Sequence RnnOrder::begin(const char* layer, const Tensor& x, const RnnMask& mask,
                                               const Tensor& lengths) const {
  if (x.rank() < 2)
    errors::raise<errors::InvalidArgumentError>(layer, "needs an input [batch, time, ...], not " + to_string(x.spec()));
  const bool masked = mask.mask_.is_set();
  if (masked) detail::check_mask(layer, mask.mask_, x);
  if (lengths.is_set()) detail::check_lengths(layer, lengths, x, time_major ? 1 : 0);
  detail::Sequence s{time_major ? x : detail::swap_batch_and_time(x), lengths, {}};
  if (masked) {
    s.mask = time_major ? mask.mask_ : detail::swap_batch_and_time(mask.mask_);
    s.unpack = mask.code_->unpack;
    mask.code_->merge_lengths(layer, s);
  }
  if (go_backwards) go_backwards.selected()(s);
  if (masked) mask.code_->pack(s);
  s.x = tandem::detail::within_lengths(s.x, s.lengths);
  return s;
}
TANDEM_INLINE Tensor RnnOrder::end(const Tensor& y, const detail::Sequence& s) const {
  const Tensor all = s.unpack ? s.unpack(y, s.mask) : y;
  return time_major ? all : detail::swap_batch_and_time(all);
}

namespace detail {

// A loop over a cell: what it runs, and the mask of its steps.
struct CellLoop {
  const char* layer;
  const Tensor& x;
  const std::vector<Tensor>& start;
  Tensor runs;  // [time, batch], or unset
  control::Code step;

  // state..., the step of x, whether rows run: state..., output
  std::vector<Tensor> iterate(Span<const Tensor> in) const {
    const std::size_t states = start.size();
    std::vector<Tensor> next = step.call(step.self, in.first(states + 1));
    if (!runs.is_set()) return next;
    const tandem::detail::ShapeChecks lenient(false);
    for (std::size_t i = 0; i <= states; ++i) {
      const Tensor ended = i < states ? in[i] : tandem::detail::scalar_like(0, next[i]);
      next[i] = where(tandem::detail::along_axes(in.back(), 1u, next[i].rank()), next[i], ended);
    }
    return next;
  }
  std::vector<Tensor> staged() const {
    std::vector<Tensor> rows{x};
    if (runs.is_set()) rows.push_back(runs);
    const auto body = [&](Span<const Tensor> in) { return iterate(in); };
    return tandem::detail::control_code().stage_loop(
        {layer, start, rows, {}, none, false, nullptr, control::code_of(body)}, {});
  }
  std::vector<Tensor> unrolled() const {
    std::vector<Tensor> state = start, outputs;
    const std::vector<Tensor> steps = unstack(x), running = runs.is_set() ? unstack(runs) : std::vector<Tensor>();
    for (std::size_t t = 0; t < steps.size(); ++t) {
      state.push_back(steps[t]);
      if (!running.empty()) state.push_back(running[t]);
      state = iterate(state);
      outputs.push_back(std::move(state.back()));
      state.pop_back();
    }
    state.push_back(outputs.empty() ? no_outputs() : stack(outputs));
    return state;
  }
  Tensor no_outputs() const {
    const Tensor y = of_one_step().back();
    return zeros(y.shape(), {.dtype = y.dtype()});
  }
  // Whether there are no steps, but sizes that only the call knows.
  bool is_empty_and_open() const { return x.shape().dim(0) == 0 && !of_one_step().back().shape().is_fully_defined(); }
  // The specs of the result, found with one step that computes nothing.
  std::vector<Tensor> of_one_step() const {
    const tandem::detail::DryRun dry;
    Shape row = x.shape();
    row.erase(0);
    std::vector<Tensor> in = start;
    in.push_back(Tensor::symbol({row, x.dtype(), x.device()}));
    if (runs.is_set()) in.push_back(Tensor::symbol({{row.dim(0)}, DType::bool_, x.device()}));
    std::vector<Tensor> out = iterate(in);
    const Spec& y = out.back().spec();
    Shape all{x.shape().dim(0)};
    for (const i64 n : y.shape) all.push_back(n);
    out.back() = Tensor::symbol({all, y.dtype, y.device});
    return out;
  }
};

TANDEM_INLINE RnnSteps<std::vector<Tensor>> run_loop(const char* layer, const Tensor& x,
                                                     const std::vector<Tensor>& start, const Tensor& lengths,
                                                     control::Code step) {
  constexpr i64 most_unrolled = 16;  // longer loops are not faster unrolled, and their graphs grow
  const CellLoop loop{layer, x, start, lengths.is_set() ? running_steps(layer, lengths, x) : Tensor(), step};
  const i64 time = x.shape().dim(0);
  std::vector<Tensor> all;
  if (context.stager && !Tracer::current()) all = loop.of_one_step();
  else if (context.stager && (time == none || time > most_unrolled || loop.is_empty_and_open())) all = loop.staged();
  else all = loop.unrolled();
  Tensor output = std::move(all.back());
  all.pop_back();
  return {std::move(output), std::move(all)};
}
TANDEM_INLINE Tensor last_step(const Tensor& outputs, const Tensor& lengths) {
  return lengths.is_set() ? nn::last_relevant(swap_batch_and_time(outputs), lengths) : outputs[-1];
}

}  // namespace detail
}  // namespace TANDEM_NS::layers
