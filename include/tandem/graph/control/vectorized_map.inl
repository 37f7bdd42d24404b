// Definitions of graph/control/vectorized_map.hpp, and of batching.hpp but for the rules: interprets a row's graph.
#pragma once
#include <string>

#include "tandem/core/context.hpp"
#include "tandem/graph/control/batching.hpp"
#include "tandem/graph/control/traced_body.hpp"
#include "tandem/graph/control/vectorized_map.hpp"
#include "tandem/graph/exec/replay_ops.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::control {

TANDEM_LAZY_INLINE Dims BatchCall::with_rows(const Shape& shape) const {
  Dims r;
  r.push_back(rows);
  for (const i64 d : shape) r.push_back(Dim(d));
  return r;
}
TANDEM_LAZY_INLINE Tensor BatchCall::aligned(unsigned i, int to) const {
  const int own = rank(i);
  if (!in[i].batched || own >= to) return in[i].tensor;
  const auto sizes = get_shape(in[i].tensor);
  Dims dims;
  dims.push_back(rows);
  for (int d = own; d < to; ++d) dims.push_back(1);
  for (int d = 0; d < own; ++d) dims.push_back(sizes[static_cast<std::size_t>(d) + 1]);
  return reshape(in[i].tensor, dims);
}
TANDEM_LAZY_INLINE Tensor BatchCall::repeated(unsigned i) const {
  if (in[i].batched) return in[i].tensor;
  const Spec& s = row(i);
  if (names_input(node.op->shape_inputs, i) && rows.is_known()) {
    Shape shape = s.shape;
    shape.insert(0, rows.number);
    return Tensor::symbol({shape, s.dtype, s.device});
  }
  return broadcast_to(in[i].tensor, with_rows(s.shape));
}
TANDEM_LAZY_INLINE std::vector<Tensor> BatchCall::all_repeated() const {
  std::vector<Tensor> r;
  for (unsigned i = 0; i < in.size(); ++i) r.push_back(repeated(i));
  return r;
}
TANDEM_LAZY_INLINE Tensor BatchCall::joined(unsigned i) const {
  const Tensor x = repeated(i);
  if (!rows.is_known()) return collapse_leading(x, 2);
  Shape shape = row(i).shape;
  shape.set(0, rows.number * row(i).shape.dim(0));
  if (!in[i].batched && x.is_symbolic() && names_input(node.op->shape_inputs, i))
    return Tensor::symbol({shape, x.dtype(), x.device()});
  return reshape(x, shape);
}
TANDEM_LAZY_INLINE Tensor BatchCall::apart(const Tensor& y, int output) const {
  return reshape(y, with_rows(out_row(output).shape));
}
TANDEM_LAZY_INLINE Tensors BatchCall::apply(const Attrs& attrs, const std::vector<Tensor>& inputs) const {
  Node n = node;
  n.attrs = attrs;
  InlinedVector<const Tensor*, 8> list;
  for (const Tensor& t : inputs) list.push_back(&t);
  return detail::replay_node(n, {list.begin(), list.size()});
}

TANDEM_LAZY [[noreturn]] TANDEM_INLINE void raise_no_rule(const Vectorizing& how, const Graph& g, const Node& n,
                                                          const std::string& why) {
  const std::string line = detail::line_text(n.where);
  std::string s = std::string("there is no rule for ") + n.op->name + (line.empty() ? "" : " at " + line);
  for (unsigned i = 0; i < n.in.size(); ++i) s += (i ? " x " : " of a row's ") + to_string(g.spec(n.in[i]));
  errors::raise<errors::UnimplementedError>(
      how.op, s + why + ": use " + how.instead + ", which calls the function for each row");
}
// Raises for ops of which each row needs a call of its own, whatever their inputs are.
TANDEM_LAZY TANDEM_INLINE void check_ops(const Vectorizing& how, const Graph& g) {
  for (const Node& n : g.nodes)
    if (n.op->flags.random) raise_no_rule(how, g, n, ", whose numbers all rows would share; pass them as rows");
  for (const Node& n : g.nodes) {
    const std::string_view name = n.op->name;
    const bool is_a_check = name == "ensure_shape" || name == "check_numerics";  // the same for all rows together
    if (!is_a_check && has_effects(n)) raise_no_rule(how, g, n, ", which has an effect in each call");
  }
}

// Interprets the graph of a row.
TANDEM_LAZY struct Interpreter {
  const Vectorizing& how;
  const Graph& graph;
  const DimValue& rows;
  std::vector<BatchedValue> values;

  Interpreter(const Vectorizing& v, const Graph& g, const DimValue& n)
      : how(v), graph(g), rows(n), values(g.specs.size()) {}
  BatchedValue& value(ValueId v) { return values[v.index()]; }
  // An op whose result is the same for all rows. It may read shapes of rows.
  Tensors apply_once(const Node& n, const std::vector<BatchedValue>& in) {
    std::vector<Tensor> operands;
    for (unsigned i = 0; i < in.size(); ++i) {
      if (in[i].batched && !graph.spec(n.in[i]).shape.is_fully_defined())
        raise_no_rule(how, graph, n, ", as the size of a row is not known while the function is traced");
      operands.push_back(in[i].batched ? Tensor::symbol(graph.spec(n.in[i])) : in[i].tensor);
    }
    InlinedVector<const Tensor*, 8> list;
    for (const Tensor& t : operands) list.push_back(&t);
    return detail::replay_node(n, {list.begin(), list.size()});
  }
  void keep(const Node& n, const Tensors& out, bool batched) {
    for (unsigned k = 0; k < out.size(); ++k) value(n.first_out + static_cast<int>(k)) = {out[k], batched};
  }
  // An op by what it is defined as.
  void decompose(const Node& n, const std::vector<BatchedValue>& in) {
    std::vector<Spec> specs;
    for (const ValueId v : n.in) specs.push_back(graph.spec(v));
    const auto code = [&n](Span<const Tensor> x) { return listed(n.op->rare.decomposition(x, n.attrs)); };
    const TracedBody body = trace_body(n.op->name, specs, code_of(code));
    std::vector<BatchedValue> arguments = in;
    for (const Tensor& t : body.captures) arguments.push_back({t, false});
    Interpreter inner(how, *body.graph, rows);
    inner.run(arguments);
    for (std::size_t k = 0; k < body.graph->outputs.size(); ++k)
      value(n.first_out + static_cast<int>(k)) = inner.value(body.graph->outputs[k]);
  }
  // A value that the definition of its op does not have.
  [[noreturn]] void raise_undefined(ValueId v) {
    const Node& n = graph.nodes[graph.producers()[v]];
    raise_no_rule(how, graph, n, ", of which not only the first results are used");
  }
  void apply_op(const Node& n) {
    std::vector<BatchedValue> in;
    bool batched = false;
    for (unsigned i = 0; i < n.in.size(); ++i) {
      in.push_back(value(n.in[i]));
      if (!in.back().tensor.is_set()) raise_undefined(n.in[i]);
      batched |= in.back().batched && !names_input(n.op->shape_inputs, i);
    }
    if (!batched) return keep(n, apply_once(n, in), false);
    if (n.op->rare.host_kernel) raise_no_rule(how, graph, n, ", where each row may go another way");
    for (int k = 0; k < n.outputs; ++k)
      if (!graph.spec(n.first_out + k).shape.is_fully_defined())
        raise_no_rule(how, graph, n, ", as the size of its result is not known while the function is traced");
    const Tensors out = apply_rule({how, graph, n, in, rows});
    if (!out.empty()) return keep(n, out, true);
    if (!n.op->rare.decomposition) raise_no_rule(how, graph, n, "");
    decompose(n, in);
  }
  void run(const std::vector<BatchedValue>& arguments) {
    for (const Node& n : graph.nodes) {
      if (n.op == &argument_op) value(n.first_out) = arguments[argument_index(n).index()];
      else if (const Tensor* const constant = constant_of(n)) value(n.first_out) = {*constant, false};
      else if (n.op == &read_variable_op) value(n.first_out) = {variable_of(graph, n).read_value(), false};
      else apply_op(n);
    }
  }
};

TANDEM_LAZY_INLINE std::vector<Tensor> run_vectorized(const Vectorizing& how, const std::vector<Tensor>& rows,
                                                      Code code, const OpOptions& options) {
  const detail::CallSite site(options);
  (void)count_rows(how.op, rows);
  std::vector<Spec> specs;
  std::vector<BatchedValue> arguments;
  for (const Tensor& t : rows) {
    specs.push_back(t.spec());
    specs.back().shape.erase(0);
    arguments.push_back({t, true});
  }
  const TracedBody body = trace_body(how.op, specs, code);
  for (const Tensor& t : body.captures) arguments.push_back({t, false});
  check_ops(how, *body.graph);
  const detail::ShapeChecks lenient(false);  // the rows were checked when they were traced
  const DimValue count = get_shape(rows[0])[0];
  Interpreter all(how, *body.graph, count);
  all.run(arguments);
  std::vector<Tensor> out;
  for (const ValueId v : body.graph->outputs) {
    const BatchedValue& r = all.value(v);
    if (!r.tensor.is_set()) all.raise_undefined(v);
    if (r.batched) {
      out.push_back(r.tensor);
    } else {
      Dims dims;
      dims.push_back(count);
      for (const i64 d : r.tensor.shape()) dims.push_back(Dim(d));
      out.push_back(broadcast_to(r.tensor, dims));
    }
  }
  return out;
}

}  // namespace TANDEM_NS::control
