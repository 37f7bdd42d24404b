// Derivative: what a graph must save for its gradients, and the graphs that compute them. Used by calls under a tape
// (concrete.hpp) and by control flow (control_ops.hpp).
#pragma once
#include <compare>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

class GradientTape;
class Tracer;

/// Which results have an incoming gradient and which inputs need one.
struct RequestedGradients {
  std::vector<bool> upstream, wanted;
  friend auto operator<=>(const RequestedGradients&, const RequestedGradients&) = default;
};

/// Inputs are the graph's arguments, then the value of each used read of a Variable. Results are the graph's
/// outputs, then the saved values. A read's gradient is also that of the argument that represents its Variable, if
/// there is one.
class TANDEM_API Derivative final : public Opaque {
 public:
  TANDEM_LAZY explicit Derivative(const Graph& graph);
  const char* kind() const override { return "derivative"; }

  /// The graph, with control flow that also returns what its own gradients need.
  const Graph& forward() const { return *forward_; }
  const LeanVector<NodeId>& reads() const { return reads_; }
  const LeanVector<ValueId>& saved() const { return saved_; }
  TANDEM_LAZY ValueId input_value(std::size_t i) const;  // the forward value of an input
  std::size_t inputs() const { return forward_->arguments.size() + reads_.size(); }
  /// For each input: whether the gradients read its value.
  const std::vector<char>& reads_input() const { return reads_input_; }
  /// The demand with all results and all differentiable inputs.
  TANDEM_LAZY RequestedGradients full_demand() const;

  struct Backward {
    Ref<Graph> graph;  // (inputs, saved values, incoming gradients) -> gradients
    std::vector<char> set,
        sparse;  // by input: whether a gradient reaches it; whether it is two outputs, values and rows
  };
  TANDEM_LAZY Backward backward(const RequestedGradients& demand) const;

 private:
  struct Joint;
  struct Symbols;
  TANDEM_LAZY Joint trace(const RequestedGradients& demand) const;
  TANDEM_LAZY void replay_forward(Symbols& s) const;
  TANDEM_LAZY std::vector<Gradient> gradients_of(const Symbols& s, const RequestedGradients& demand,
                                                 GradientTape& tape) const;
  TANDEM_LAZY static void finish(Tracer& tracer, const Symbols& s, std::vector<Tensor> gradients, Joint& j);
  TANDEM_LAZY Ref<Graph> cut(const Joint& joint) const;
  TANDEM_LAZY void find_saved();
  TANDEM_LAZY ArgumentIndex argument_of_read(std::size_t input) const;
  TANDEM_LAZY bool is_asked_for(const RequestedGradients& demand, std::size_t input) const;
  TANDEM_LAZY void pass_on(const RequestedGradients& demand, std::vector<Gradient>& by_input) const;

  Ref<Graph> forward_;
  LeanVector<NodeId> reads_;
  LeanVector<ValueId> results_, saved_;
  LeanVector<ArgumentIndex> stands_for_;  // by read: the argument that represents its Variable, if any
  std::vector<char> reads_input_;
};

}  // namespace TANDEM_NS
