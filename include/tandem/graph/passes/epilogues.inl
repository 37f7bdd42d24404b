// Epilogue fusion: bias and activation are applied to a matrix product while it is in the cache. Benchmark rows:
// char_rnn_step @traced and @cells_traced (the logits).
#pragma once
#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"

namespace TANDEM_NS {
namespace detail {

class EpilogueFuser {
 public:
  explicit EpilogueFuser(const Graph& g) : rewrite_(g) {}

  Ref<Graph> run() {
    for (std::size_t i = 0; i < rewrite_.graph->nodes.size(); ++i) {
      Node& n = rewrite_.node(i);
      if (n.op == &add_op) fuse_bias(n, n.in[0], n.in[1]) || fuse_bias(n, n.in[1], n.in[0]);
      else fuse_activation(n);
    }
    return rewrite_.finish();
  }

 private:
  // The node that produces the value, if it has a single use.
  std::size_t only_for(int value, const OpDef& op) const {
    const std::size_t at = rewrite_.producer(value);
    return rewrite_.has_one_use(value) && rewrite_.graph->nodes[at].op == &op ? at : no_node;
  }
  bool fuse_bias(Node& n, int product, int bias) {
    const std::size_t at = only_for(product, matmul_op);
    if (at == no_node) return false;
    const Node& m = rewrite_.graph->nodes[at];
    const auto& flags = m.attrs.get<rules::MatmulAttrs>();
    const Spec &x = rewrite_.spec(m.in[0]), &w = rewrite_.spec(m.in[1]), &b = rewrite_.spec(bias);
    const bool plain = !flags.transpose_a && !flags.transpose_b && x.shape.rank() == 2 && w.shape.rank() == 2;
    if (!plain || b.device != x.device || !has_kernel(dense_op, x.device) || !dtypes::floating.has(x.dtype) ||
        b.shape.rank() != 1 || w.shape.dim(1) == none || b.shape.dim(0) != w.shape.dim(1))
      return false;
    become_dense(n, at, nn::DenseActivation::none);
    n.in.push(bias);
    return true;
  }
  void fuse_activation(Node& n) {
    const nn::DenseActivation a = n.op == &relu_op      ? nn::DenseActivation::relu
                                  : n.op == &tanh_op    ? nn::DenseActivation::tanh
                                  : n.op == &sigmoid_op ? nn::DenseActivation::sigmoid
                                                        : nn::DenseActivation::none;
    const std::size_t at = a == nn::DenseActivation::none ? no_node : only_for(n.in[0], dense_op);
    // Without a bias the kernel adds 0, which would change an activation of -0.
    if (at == no_node || rewrite_.graph->nodes[at].in.size() != 3 ||
        rewrite_.graph->nodes[at].attrs.get<rules::DenseAttrs>().activation != nn::DenseActivation::none)
      return;
    become_dense(n, at, a);
  }
  void become_dense(Node& n, std::size_t product, nn::DenseActivation activation) {
    const Node& m = rewrite_.graph->nodes[product];
    n.op = &dense_op, n.attrs = rules::DenseAttrs{activation}, n.in = m.in;
    rewrite_.remove(product);
  }

  Rewrite rewrite_;
};

}  // namespace detail

TANDEM_INLINE Ref<Graph> fuse_epilogues(const Graph& from) { return detail::EpilogueFuser(from).run(); }

}  // namespace TANDEM_NS
