// Batching: the ops of a graph of one row, applied to all rows at once. For the definitions of vectorized_map.hpp.
#pragma once
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/control/vectorized_map.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS::control {

/// A value of a row's graph: the same for all rows, or with the rows along a new axis 0.
struct BatchedValue {
  Tensor tensor = {};
  bool batched = false;
};

/// One op of a row's graph, to be applied to all rows. At least one input is batched, not counting those of which only
/// the shape is read.
struct BatchCall {
  const Vectorizing& how;
  const Graph& graph;
  const Node& node;
  Span<const BatchedValue> in;
  const DimValue& rows;

  /// A row of input i; a row of output k.
  const Spec& row(unsigned i) const { return graph.spec(node.in[i]); }
  const Spec& out_row(int k) const { return graph.spec(node.first_out + k); }
  int rank(unsigned i) const { return row(i).shape.rank(); }
  bool is_batched(unsigned i) const { return in[i].batched; }
  /// Whether input 0 is batched and no other one.
  bool only_first() const {
    for (unsigned i = 1; i < in.size(); ++i)
      if (in[i].batched) return false;
    return in[0].batched;
  }
  template <class A>
  const A& attrs() const {
    return node.attrs.get<A>();
  }

  /// The shape of rows of this shape.
  TANDEM_LAZY Dims with_rows(const Shape& row) const;
  /// Input i, with ones behind the rows' axis that make its rows have at least this rank; unbatched ones as they are.
  TANDEM_LAZY Tensor aligned(unsigned i, int rank) const;
  /// Input i with an axis of rows, repeated if it is the same for all. Of an input of which only the shape is read, a
  /// tensor of that shape.
  TANDEM_LAZY Tensor repeated(unsigned i) const;
  TANDEM_LAZY std::vector<Tensor> all_repeated() const;
  /// Input i with axis 0 of its rows joined to that of the rows, and an output taken apart again.
  TANDEM_LAZY Tensor joined(unsigned i) const;
  TANDEM_LAZY Tensor apart(const Tensor& y, int output) const;
  /// Applies the op.
  TANDEM_LAZY Tensors apply(const Attrs& attrs, const std::vector<Tensor>& inputs) const;
};

/// Applies an op to all rows by its rule; no results if there is no rule for these inputs.
TANDEM_LAZY Tensors apply_rule(const BatchCall& call);

/// An axis of a row as one of all rows. Negative ones count from the end.
TANDEM_LAZY inline i64 behind_rows(i64 axis) { return axis < 0 ? axis : axis + 1; }

namespace batching {

TANDEM_LAZY inline Shape with_first(Shape s, i64 first) {
  s.insert(0, first);
  return s;
}
TANDEM_LAZY inline Tensors one(Tensor t) { return Tensors(std::move(t)); }

// The rules of ops that read and write at indices.
TANDEM_LAZY Tensors gather(const BatchCall& c);
TANDEM_LAZY Tensors gather_grad(const BatchCall& c);
TANDEM_LAZY Tensors gather_nd(const BatchCall& c);
TANDEM_LAZY Tensors scatter_into(const BatchCall& c);
TANDEM_LAZY Tensors scatter_nd(const BatchCall& c);
TANDEM_LAZY Tensors unsorted_segments(const BatchCall& c);
TANDEM_LAZY Tensors segment_take(const BatchCall& c);

}  // namespace batching

}  // namespace TANDEM_NS::control
