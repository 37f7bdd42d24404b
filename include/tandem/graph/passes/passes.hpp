// Passes: each rewrites a graph into an equivalent, cheaper one. optimize() runs them in order; each can be disabled
// and called separately. Not here: bodies of control flow (each is optimized when its own plan is made), buffers
// (plan.hpp).
#pragma once
#include <string>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// Which passes optimize() runs.
struct PassOptions {
  bool eliminate_dead_code = true;
  bool simplify = true;
  bool fold_constants = true;
  bool eliminate_common_subexpressions = true;
  bool combine_updates = true;
  bool fuse_epilogues = true;
  bool combine_products = true;
  bool fuse = true;
  bool fuse_reductions = true;
};

/// Runs all passes. The results are the original's, special values and rounding included, except for the order of
/// addition in sums of products (combine_products). Effects keep their order and their position among the ops that may
/// raise.
///   throws  errors::InternalError from verify() after a pass that broke the graph (builds with asserts)
TANDEM_LAZY TANDEM_API Ref<Graph> optimize(const Graph& graph, const PassOptions& options = {});

/// Dead-code elimination: removes the ops that neither an output nor an effect needs. Arguments stay.
TANDEM_LAZY TANDEM_API Ref<Graph> eliminate_dead_code(const Graph& graph);
/// Constant folding: replaces ops on constants by constants. Skips random ops, effects, control flow, results above
/// 1 MiB that are larger than their inputs, and ops that raise: their error belongs to the call.
TANDEM_LAZY TANDEM_API Ref<Graph> fold_constants(const Graph& graph);
/// Common-subexpression elimination: merges equal ops on equal inputs, and small equal constants. Skips random ops
/// and effects; ops that read Variables are merged only between two effects. A Variable is not read again after an
/// assignment: the assigned value is used.
TANDEM_LAZY TANDEM_API Ref<Graph> eliminate_common_subexpressions(const Graph& graph);
/// Algebraic simplification that changes no bit of any result: views of views, transposes of transposes and before
/// matmul, x * 1, x / 1, x - 0, double negation, casts to the same dtype. A broadcast that an elementwise op would
/// do anyway is not materialized for it, and a value of which only the known shape is read is not computed.
TANDEM_LAZY TANDEM_API Ref<Graph> simplify(const Graph& graph);
/// Epilogue fusion: combines a product of two matrices, a bias and an optional relu, tanh or sigmoid into one
/// `dense` op, where the intermediate values have no other uses. Likewise a convolution, what is added to each channel
/// and what multiplies it (a bias, batch normalization at inference), and an activation into one `fused_conv` op.
TANDEM_LAZY TANDEM_API Ref<Graph> fuse_epilogues(const Graph& graph);
/// Combines small matrix products, as in an unrolled loop over the steps of a sequence, into few large ones. A sum of
/// products (the gradient of a weight that every step uses) becomes one product over all their inner dimensions, where
/// concatenating the operands costs less than adding the results. Products of up to 256 rows each with the same right
/// operand, none of which depends on another, become one product of all rows, between two effects. A matrix that
/// several other such products use transposed is transposed once. Operands that are already adjacent in memory, as the
/// steps of one tensor are, are not copied. The first rewrite is a fusion, which adds floating numbers in another
/// order; the others change no bit. Known shapes, floating dtypes.
TANDEM_LAZY TANDEM_API Ref<Graph> combine_products(const Graph& graph);
/// Multi-tensor (foreach) update: combines consecutive updates of Variables by one rule with the same settings,
/// learning rate and step into one op (OpDef::multi_tensor) with the same numbers, which distributes all their elements
/// over the threads. If all gradients were multiplied by one scalar before, as clip_by_global_norm does, the op does
/// that multiplication. CPU only. Skips row-sparse updates, and updates separated by a read of an updated Variable,
/// by another effect or by an op that may raise.
TANDEM_LAZY TANDEM_API Ref<Graph> combine_updates(const Graph& graph);
/// Pointwise fusion: combines connected elementwise ops over one shape into one `fused` op
/// (ops/fused/fused.hpp), which runs them tile by tile. CPU only; never across an effect; half precision,
/// strings and ops that check their data are not fused.
TANDEM_LAZY TANDEM_API Ref<Graph> fuse(const Graph& graph);
/// Reduction fusion: combines a sum, mean, maximum or minimum over the last axes with the `fused` or elementwise op
/// that produces its operand, if that has no other use, into one `fused_reduce` op (ops/fused/fused_reduce.hpp).
/// The operand is reduced tile by tile and never materialized. CPU, float32 and float64; never across an effect.
TANDEM_LAZY TANDEM_API Ref<Graph> fuse_reductions(const Graph& graph);
/// Moves ops that begin work beside the program (Flags::early: the sum of gradients over processes) up behind their
/// inputs, past other effects but not past ops that talk to other processes, which keep their order. optimize() always
/// does it, last.
TANDEM_LAZY TANDEM_API Ref<Graph> start_early(const Graph& graph);

/// Suggests improvements to the author of the traced function that a pass may not make, since they change the
/// numbers: "model.cpp:12: log(softmax(x)) loses precision where the probability is small: use nn::log_softmax(x)".
TANDEM_LAZY TANDEM_API std::vector<std::string> advice(const Graph& graph);

namespace detail {
/// Work done by passes on this thread: nodes visited plus candidates compared. Read by a test of how their work
/// grows with the graph.
extern TANDEM_API constinit thread_local u64 pass_steps;

/// Whether the node may run inside a fused program: elementwise, with one output, on the CPU.
TANDEM_LAZY bool is_fusible(const Graph& graph, const Node& node);
}  // namespace detail

}  // namespace TANDEM_NS
