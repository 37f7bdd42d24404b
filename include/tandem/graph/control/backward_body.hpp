// BackwardBody: traces a graph that replays another graph's gradients; the values it reads become its arguments. For
// the definitions of graph/control/control_ops.hpp.
#pragma once
#include <algorithm>

#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/create/fill.hpp"

namespace TANDEM_NS::detail {

class BackwardBody {
 public:
  TANDEM_LAZY BackwardBody(const Derivative& d, Derivative::Backward b)
      : d_(d), b_(std::move(b)), uses_(b_.graph->uses()), tracer_(b_.graph->name) {
    for (ValueId v : b_.graph->arguments) symbols_.push_back(Tensor::symbol(b_.graph->spec(v)));
  }

  /// Adds an argument, for which the op receives `outer`.
  TANDEM_LAZY Tensor argument(const Tensor& outer, const Spec& spec) {
    outer_.push_back(outer);
    return tracer_.argument(spec);
  }
  /// The values passed to the op, one for each argument.
  TANDEM_LAZY const std::vector<Tensor>& outer() const { return outer_; }

  /// Whether the value of input i is read, or its shape if that is not known statically.
  TANDEM_LAZY bool reads_input(std::size_t i) const { return uses(i) || (b_.set[i] && !is_known(i)); }
  TANDEM_LAZY bool reads_saved(std::size_t i) const { return uses(d_.inputs() + i); }
  TANDEM_LAZY void input(std::size_t i, const Tensor& symbol) { symbols_[i] = symbol; }
  TANDEM_LAZY void saved(std::size_t i, const Tensor& symbol) { symbols_[d_.inputs() + i] = symbol; }
  /// Adds an incoming gradient; call in the order of the demand.
  TANDEM_LAZY void upstream(const Tensor& symbol) { symbols_[d_.inputs() + d_.saved().size() + upstreams_++] = symbol; }

  /// Index of the forward graph's output, at or after `first`, that returns the value.
  TANDEM_LAZY std::size_t output_of(ValueId value, std::size_t first = 0) const {
    const LeanVector<ValueId>& outputs = d_.forward().outputs;
    const auto at = std::find(outputs.begin() + static_cast<std::ptrdiff_t>(first), outputs.end(), value);
    if (at == outputs.end())
      errors::raise<errors::InternalError>(d_.forward().name.c_str(),
                                           "was not recorded: its gradient lacks %" + std::to_string(value.number()));
    return static_cast<std::size_t>(at - outputs.begin());
  }
  TANDEM_LAZY bool is_known(std::size_t input) const { return spec(input).shape.is_fully_defined(); }
  /// A tensor with the shape of input i, for uses that read only the shape.
  TANDEM_LAZY Tensor like(std::size_t i) const { return is_known(i) ? Tensor::symbol(spec(i)) : symbols_[i]; }

  /// Gradients by input. All values that are read must have been set.
  TANDEM_LAZY std::vector<Gradient> gradients() {
    InlinedVector<const Tensor*, 16> arguments;
    for (const Tensor& t : symbols_) arguments.push_back(&t);
    const Tensors out = replay(*b_.graph, {arguments.begin(), arguments.size()});
    std::vector<Gradient> r(d_.inputs());
    std::size_t at = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (!b_.set[i]) continue;
      if (b_.sparse[i]) r[i] = IndexedSlices{out[at], out[at + 1], like(i)}, at += 2;
      else r[i] = out[at++];
    }
    return r;
  }
  TANDEM_LAZY Ref<Graph> finish(Span<const Tensor> outputs) { return tracer_.finish(outputs); }

 private:
  TANDEM_LAZY bool uses(std::size_t argument) const { return uses_[b_.graph->arguments[argument]] > 0; }
  TANDEM_LAZY const Spec& spec(std::size_t input) const { return d_.forward().spec(d_.input_value(input)); }

  const Derivative& d_;
  Derivative::Backward b_;
  ById<ValueId, int> uses_;
  Tracer tracer_;
  std::vector<Tensor> symbols_;  // indexed by argument of the gradients' graph
  std::vector<Tensor> outer_;
  std::size_t upstreams_ = 0;
};

}  // namespace TANDEM_NS::detail
