// Passes: a graph in, an equal and cheaper graph out. optimize() runs them in their order, each can be switched off and
// called alone. Not here: bodies of control flow (each is optimised when its own plan is made), buffers (plan.hpp).
#pragma once
#include <string>
#include <vector>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// Which passes optimize() runs.
struct PassOptions {
  bool drop_dead = true;
  bool simplify = true;
  bool fold_constants = true;
  bool merge_common = true;
  bool join_updates = true;
  bool join_dense = true;
  bool join_products = true;
  bool fuse = true;
  bool fuse_reductions = true;
};

/// The graph after all passes. Its results are the original's, special values and rounding included, but for the order
/// of addition in sums of products (join_products); its effects keep their order and their place among the ops that may
/// raise.
///   throws  errors::InternalError from verify() after a pass that broke the graph (builds with asserts)
TANDEM_API Ref<Graph> optimize(const Graph& graph, const PassOptions& options = {});

/// Without the ops that neither an output nor an effect needs. Arguments stay.
TANDEM_API Ref<Graph> drop_dead(const Graph& graph);
/// Ops on constants become constants. Left alone: random ops, effects, control flow, results above 1 MiB that are
/// larger than what they are made of, and ops that raise: their error belongs to the call.
TANDEM_API Ref<Graph> fold_constants(const Graph& graph);
/// Equal ops on equal inputs become one; small equal constants too. Left alone: random ops and effects; what reads
/// Variables is merged between two effects only. A Variable that was assigned a value is not read for it.
TANDEM_API Ref<Graph> merge_common(const Graph& graph);
/// Rewrites that change no bit of any result: views of views, transposes of transposes and in front of matmul, x * 1,
/// x / 1, x - 0, double negation, casts to the same dtype. What an elementwise op would repeat anyway is not written
/// out for it, and what is asked for its known shape alone is not computed.
TANDEM_API Ref<Graph> simplify(const Graph& graph);
/// A product of two matrices, a bias on it and relu, tanh or sigmoid of that become one `dense` op, where nothing else
/// uses what is between them.
TANDEM_API Ref<Graph> join_dense(const Graph& graph);
/// Many small matrix products become few large ones, as an unrolled loop over the steps of a sequence has them: a sum
/// of products (the gradient of a weight that every step used) becomes one product over all their inner dimensions,
/// where putting the operands together costs less than adding the results up; products of up to 256 rows each by one
/// right operand, none of which needs another's result, become one product of all rows; a matrix that several such
/// products take transposed is transposed once. What lies side by side in memory already, as the steps of one tensor
/// do, is not copied. The first is a fusion, which adds floating numbers in another order; the others change no bit.
/// CPU, float32 and float64, known shapes; never across an effect.
TANDEM_API Ref<Graph> join_products(const Graph& graph);
/// Updates of Variables by one rule with the same settings, learning rate and step, one after the other, become one op
/// (OpDef::plural) with the same numbers, which spreads all their elements over the threads; where all gradients were
/// multiplied by one scalar before, as clip_by_global_norm does, it multiplies them. CPU only. Left alone: row-sparse
/// updates, and what is parted by a read of an updated Variable, by another effect or by an op that may raise.
TANDEM_API Ref<Graph> join_updates(const Graph& graph);
/// Connected elementwise ops over one shape become one `fused` op (ops/pointwise/fused.hpp), which runs them tile by
/// tile. CPU only; never across an effect; half precision, strings and ops that check their data stay on their own.
TANDEM_API Ref<Graph> fuse(const Graph& graph);
/// A sum, mean, maximum or minimum over the last axes of a `fused` or elementwise op's result that nothing else uses
/// becomes one `fused_reduce` op (ops/pointwise/fused_reduce.hpp): the result is folded tile by tile and never written
/// out. CPU, float32 and float64; never across an effect.
TANDEM_API Ref<Graph> fuse_reductions(const Graph& graph);

/// What the author of the traced function could do better and a pass may not do for him, since it would change the
/// numbers: "model.cpp:12: log(softmax(x)) loses precision where the probability is small: use nn::log_softmax(x)".
TANDEM_API std::vector<std::string> advice(const Graph& graph);

namespace detail {
/// What passes have done on this thread, in nodes that they visited and candidates that they compared. A test of how
/// their work grows with the graph reads it.
extern TANDEM_API constinit thread_local u64 pass_steps;

/// Whether the node may run inside of a fused program: elementwise, of one output, on the CPU.
bool is_fusible(const Graph& graph, const Node& node);
}  // namespace detail

}  // namespace TANDEM_NS
