// Places: which values of a graph are adjacent in one buffer, and how several of them become one value without a
// copy if they are. For passes that combine ops. Not here: where buffers lie (graph/exec/plan.hpp).
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {
namespace detail {

class Places {
 public:
  explicit Places(const Graph& g) : graph_(g) {
    places_.reserve(g.specs.size());
    for (int v = 0; v < static_cast<int>(g.specs.size()); ++v) places_.push_back({v, 0});
    for (const Node& n : g.nodes) visit(n);
  }
  /// Adds a view; its value number may be new.
  void set(int view, int of, i64 begin) {
    while (static_cast<int>(places_.size()) <= view) places_.push_back({static_cast<int>(places_.size()), 0});
    const Place p = of_value(of);
    places_[static_cast<std::size_t>(view)] = {p.root, p.begin + begin};
  }
  /// The element of its root at which a value begins; not comparable between different roots.
  i64 begin(int value) const { return of_value(value).begin; }
  /// Whether each value follows the previous one in memory.
  bool are_neighbours(std::span<const int> values) const {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const Place a = of_value(values[i - 1]), b = of_value(values[i]);
      if (a.root != b.root || a.begin + graph_.spec(values[i - 1]).shape.size() != b.begin) return false;
    }
    return true;
  }
  /// Views adjacent values as one value of the spec. `add(op, attrs, inputs, spec)` makes a node and returns its
  /// value.
  template <class Add>
  int view(std::span<const int> neighbours, const Spec& spec, const Add& add) const {
    const Place p = of_value(neighbours[0]);
    Spec s = graph_.spec(p.root);
    int v = p.root;
    if (const i64 all = s.shape.size(), some = spec.shape.size(); all != some) {
      s.shape = {all};
      v = add(reshape_op, rules::ReshapeAttrs{s.shape}, v, s);
      s.shape = {some};
      v = add(leading_slice_op, rules::LeadingSliceAttrs{p.begin, some}, v, s);
    }
    return s == spec ? v : add(reshape_op, rules::ReshapeAttrs{spec.shape}, v, spec);
  }

 private:
  struct Place {
    int root;
    i64 begin;  // in elements
  };
  Place of_value(int v) const {
    return v < static_cast<int>(places_.size()) ? places_[static_cast<std::size_t>(v)] : Place{v, 0};
  }
  void visit(const Node& n) {
    if (!n.op->flags.alias) return;
    i64 begin = 0;
    for (int k = 0; k < n.outputs; ++k) {
      const int v = n.first_out + k, x = n.in[n.in.size() > 1 ? static_cast<std::size_t>(k) : 0];
      const Spec &whole = graph_.spec(x), &part = graph_.spec(v);
      if (!whole.shape.is_fully_defined() || !part.shape.is_fully_defined()) return;
      if (whole.dtype != part.dtype || whole.dtype == DType::string) return;
      if (k == 0 || n.in.size() > 1)
        begin = n.op->rare.offset ? static_cast<i64>(n.op->rare.offset(whole, n.attrs) / size_of(whole.dtype)) : 0;
      set(v, x, begin);
      begin += part.shape.size();
    }
  }

  const Graph& graph_;
  std::vector<Place> places_;  // indexed by value
};

}  // namespace detail
}  // namespace TANDEM_NS
