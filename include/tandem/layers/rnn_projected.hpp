// run_projected: a loop over the steps of a cell whose inputs are projected already. For the definitions of cells
// without a fused kernel.
#pragma once
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/layers/rnn_steps.hpp"

namespace TANDEM_NS::layers::detail {

/// Runs a step over inputs that are projected already, for all steps in one product.
template <class State, class Step>
RnnSteps<State> run_projected(const char* layer, const Tensor& x, const State& start, const Tensor& lengths,
                              const Step& step) {
  const auto code = [&](Span<const Tensor> in) {
    State state = start;
    control::refill(state, in.first(in.size() - 1));
    std::vector<Tensor> out = control::tensors_of(step(in.back(), state));
    out.push_back(out.front());  // h is the output
    return out;
  };
  RnnSteps<std::vector<Tensor>> all = run_loop(layer, x, control::tensors_of(start), lengths, control::code_of(code));
  RnnSteps<State> r{std::move(all.output), start};
  control::refill(r.state, all.state);
  return r;
}

}  // namespace TANDEM_NS::layers::detail
