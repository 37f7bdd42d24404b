// Epilogue fusion: bias and activation are applied to a matrix product while it is in the cache, and so is batch
// normalization at inference to a convolution. Benchmark rows: char_rnn_step @traced and @cells_traced (the logits),
// conv2d/inference* @traced.
#pragma once
#include "tandem/attrs/conv.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY class EpilogueFuser {
 public:
  explicit EpilogueFuser(const Graph& g) : rewrite_(g) {}

  Ref<Graph> run() {
    for (const NodeId i : rewrite_.graph->nodes.ids()) {
      Node& n = rewrite_.node(i);
      if (fuse_into_convolution(n, i)) continue;
      if (n.op == &add_op) fuse_bias(n, n.in[0], n.in[1]) || fuse_bias(n, n.in[1], n.in[0]);
      else fuse_activation(n);
    }
    return rewrite_.finish();
  }

 private:
  // The node that produces the value, if it has a single use.
  NodeId only_for(ValueId value, const OpDef& op) const {
    const NodeId at = rewrite_.producer(value);
    return rewrite_.has_one_use(value) && rewrite_.graph->nodes[at].op == &op ? at : NodeId();
  }
  bool fuse_bias(Node& n, ValueId product, ValueId bias) {
    const NodeId at = only_for(product, matmul_op);
    if (!at.is_set()) return false;
    const Node& m = rewrite_.graph->nodes[at];
    const auto& flags = m.attrs.get<rules::MatmulAttrs>();
    const Spec &x = rewrite_.spec(m.in[0]), &w = rewrite_.spec(m.in[1]), &b = rewrite_.spec(bias);
    const bool plain = !flags.transpose_a && !flags.transpose_b && x.shape.rank() == 2 && w.shape.rank() == 2;
    if (!plain || b.device != x.device || !has_kernel(dense_op, x.device) || !dtypes::floating.has(x.dtype) ||
        b.shape.rank() != 1 || w.shape.dim(1) == none || b.shape.dim(0) != w.shape.dim(1))
      return false;
    become_dense(n, at, FusedActivation::none);
    n.in.push_back(bias);
    return true;
  }
  static FusedActivation activation_of(const Node& n) {
    return n.op == &relu_op      ? FusedActivation::relu
           : n.op == &tanh_op    ? FusedActivation::tanh
           : n.op == &sigmoid_op ? FusedActivation::sigmoid
                                 : FusedActivation::none;
  }
  void fuse_activation(Node& n) {
    const FusedActivation a = activation_of(n);
    const NodeId at = a == FusedActivation::none ? NodeId() : only_for(n.in[0], dense_op);
    // Without a bias the kernel adds 0, which would change an activation of -0.
    if (!at.is_set() || rewrite_.graph->nodes[at].in.size() != 3 ||
        rewrite_.graph->nodes[at].attrs.get<rules::DenseAttrs>().activation != FusedActivation::none)
      return;
    become_dense(n, at, a);
  }
  void become_dense(Node& n, NodeId product, FusedActivation activation) {
    const Node& m = rewrite_.graph->nodes[product];
    n.op = &dense_op, n.attrs = rules::DenseAttrs{activation}, n.in = m.in;
    rewrite_.remove(product);
  }

  // The convolution, with or without an epilogue, that produces the value, if it has a single use, no activation yet,
  // and a version with an epilogue on its device.
  NodeId convolution_for(ValueId value) const {
    const NodeId at = rewrite_.producer(value);
    if (!at.is_set() || !rewrite_.has_one_use(value)) return {};
    const Node& m = rewrite_.graph->nodes[at];
    const OpDef* fused = m.op->rare.with_epilogue;
    const Spec& y = rewrite_.spec(value);
    const bool suits = fused && has_kernel(*fused, y.device) && dtypes::floating.has(y.dtype) &&
                       (m.op != fused || m.attrs.get<rules::FusedConvAttrs>().activation == FusedActivation::none);
    return suits ? at : NodeId();
  }
  // Whether the value has one number for each channel of the convolution's results.
  bool is_per_channel(ValueId value, const Spec& y) const {
    const Spec& v = rewrite_.spec(value);
    const i64 channels = y.shape.dim(-1);
    return v.device == y.device && v.dtype == y.dtype && channels != none && v.shape.rank() >= 1 &&
           v.shape.rank() <= y.shape.rank() && v.shape.is_fully_defined() && v.shape.dim(-1) == channels &&
           v.shape.size() == channels;
  }
  bool fuse_into_convolution(Node& n, NodeId i) {
    if (activation_of(n) != FusedActivation::none) {
      const NodeId at = convolution_for(n.in[0]);
      if (at.is_set()) become_convolution(n, at, activation_of(n));
      return at.is_set();
    }
    if (n.op != &add_op && n.op != &subtract_op && n.op != &multiply_op) return false;
    return fuse_vector(n, i, n.in[0], n.in[1]) || (n.op != &subtract_op && fuse_vector(n, i, n.in[1], n.in[0]));
  }
  // y + v, y - v and y * v for a convolution's y: v becomes its bias, scale or offset.
  bool fuse_vector(Node& n, NodeId i, ValueId y, ValueId v) {
    const NodeId at = convolution_for(y);
    if (!at.is_set() || !is_per_channel(v, rewrite_.spec(y))) return false;
    const OpDef& op = *n.op;
    const std::size_t inputs = rewrite_.graph->nodes[at].in.size();
    if (&op == &multiply_op ? inputs != 3 : inputs == 5) return false;
    become_convolution(n, at, FusedActivation::none);
    const Spec spec{{rewrite_.spec(y).shape.dim(-1)}, rewrite_.spec(v).dtype, rewrite_.spec(v).device};
    if (rewrite_.spec(v).shape.rank() != 1)
      v = rewrite_.add_before(i, reshape_op, rules::ReshapeAttrs{spec.shape}, {&v, 1}, spec);
    const ValueId both[] = {inputs == 3 ? n.in[2] : v, v};
    if (inputs == 3 && &op != &multiply_op) n.in[2] = rewrite_.add_before(i, op, no_attrs, both, spec);
    else if (&op == &subtract_op) n.in.push_back(rewrite_.add_before(i, negative_op, no_attrs, {&v, 1}, spec));
    else n.in.push_back(v);
    return true;
  }
  void become_convolution(Node& n, NodeId convolution, FusedActivation activation) {
    const Node& m = rewrite_.graph->nodes[convolution];
    rules::FusedConvAttrs a;
    if (m.op == m.op->rare.with_epilogue) a = m.attrs.get<rules::FusedConvAttrs>();
    else static_cast<rules::ConvAttrs&>(a) = m.attrs.get<rules::ConvAttrs>();
    a.activation = activation;
    n.op = m.op->rare.with_epilogue, n.attrs = a, n.in = m.in;
    rewrite_.remove(convolution);
  }

  Rewrite rewrite_;
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> fuse_epilogues(const Graph& from) { return detail::EpilogueFuser(from).run(); }

}  // namespace TANDEM_NS
