// Collective operations on tensors: all_reduce, broadcast, all_gather, reduce_scatter, all_to_all. Part of the
// component tandem::distribute. They run eagerly, under tapes and in traced functions, where they keep their order.
#pragma once
#include <optional>

#include "tandem/attrs/attrs.hpp"
#include "tandem/base/location.hpp"
#include "tandem/core/op.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute {

/// Every rank of the group must call the operation, in the same order among the group's operations, and with tensors
/// of one dtype, all on the CPU or all on a GPU (which needs tandem::distribute_nccl). In errors of the group the
/// operation has the name `.name`, or the line.
///   throws  all of them: errors::UnavailableError if the group's timeout passes or another rank is lost, of tensors on
///           a GPU when a value is read, or by a later operation; errors::FailedPreconditionError if ranks call
///           different operations (Communicator::run); errors::UnimplementedError for a dtype that NCCL cannot combine
struct CollectiveOptions {
  TANDEM_OP_OPTIONS;
  std::optional<Communicator> group = {};  ///< default: Communicator::world()
};

struct AllReduceOptions {
  TANDEM_OP_OPTIONS;
  ReduceOp op = ReduceOp::sum;
  std::optional<Communicator> group = {};
};
/// Combines the tensors of all ranks, element by element. Every rank gets the same bits.
///   x         numbers, of the same shape in all ranks; mean: floating or complex; min and max: not complex; of bool
///   min
///             says whether all are true, max whether any is
///   returns   shape and dtype of x. Half precision is combined in float32 and rounded at each rank, a mean once;
///             integers wrap. On a GPU NCCL rounds, and has no int16, no uint16, and of complex dtypes sum and mean
///             alone
///   throws    errors::InvalidArgumentError for a dtype that `.op` is not defined for
///   gradient  sum and mean: all_reduce of g by the same; min, max: the sum of the ranks' g, divided among the ranks
///             whose x is the result; prod: that sum times the conjugate of the product of the other ranks' x
TANDEM_API Tensor all_reduce(const Tensor& x, AllReduceOptions = {});

struct BroadcastOptions {
  TANDEM_OP_OPTIONS;
  int root = 0;
  std::optional<Communicator> group = {};
};
/// Returns the tensor of one rank in all of them.
///   x         any dtype but string, of the same shape in all ranks
///   returns   x of rank `.root`
///   throws    errors::InvalidArgumentError for a root that the group does not have
///   gradient  for the root the sum of the ranks' g, for the others zero
TANDEM_API Tensor broadcast(const Tensor& x, BroadcastOptions = {});

struct AllGatherOptions {
  TANDEM_OP_OPTIONS;
  /// Whether all ranks have the same number of rows: this saves the exchange of these numbers, and the result's shape
  /// is known in a trace.
  bool equal_rows = false;
  std::optional<Communicator> group = {};
};
/// Concatenates the tensors of all ranks along axis 0, in the order of ranks.
///   x         any dtype but string, [n, ...]; n may differ between ranks, unless `.equal_rows`
///   returns   [sum of n, ...]
///   throws    errors::InvalidArgumentError for a scalar
///   gradient  the sum of the ranks' g at this rank's rows
TANDEM_API Tensor all_gather(const Tensor& x, AllGatherOptions = {});

/// Adds the tensors of all ranks and returns this rank's rows of the sum.
///   x         numbers, [p n, ...] for p ranks, of the same shape in all ranks
///   returns   [n, ...]: rows rank * n to (rank + 1) * n
///   throws    errors::InvalidArgumentError for a scalar and for rows that p does not divide
///   gradient  all_gather(g)
TANDEM_API Tensor reduce_scatter(const Tensor& x, CollectiveOptions = {});

/// Sends rows to the other ranks, and returns those that these have sent, in the order of ranks.
///   x         any dtype but string, [n, ...]
///   splits    int64, [p]: how many rows go to each rank, rank 0's first; their sum is n. Without them: n / p to each
///   returns   rows, [m, ...], and how many of them came from each rank, int64 [p], which all_to_all of the answers
///             takes as its splits
///   throws    errors::InvalidArgumentError for a scalar, splits that are negative or whose sum is not n, and without
///             splits for rows that p does not divide
///   gradient  of rows: those of g sent back
struct Exchanged {
  Tensor rows, splits;
};
TANDEM_API Exchanged all_to_all(const Tensor& x, const Tensor& splits, CollectiveOptions = {});
/// The same where a rank knows how many rows come from each rank: this saves the exchange of these numbers.
///   received  int64, [p]
///   returns   rows, [sum of received, ...]
TANDEM_API Tensor all_to_all(const Tensor& x, const Tensor& splits, const Tensor& received, CollectiveOptions = {});
TANDEM_API Tensor all_to_all(const Tensor& x, CollectiveOptions = {});

}  // namespace TANDEM_NS::distribute

namespace TANDEM_NS {

template <>
inline constexpr int enumerators<distribute::ReduceOp> = 5;

TANDEM_OPS(collective_ops, all_reduce, all_combine, broadcast, all_gather, reduce_scatter, all_to_all)

namespace rules {
struct CollectiveAttrs {
  std::string group;
  distribute::ReduceOp op;  // all_reduce alone
  i64 root;                 // broadcast alone
  std::string label;        // for errors: the name of the call, or its line
  TANDEM_ATTRS(CollectiveAttrs, group, op, root, label);
};
}  // namespace rules
}  // namespace TANDEM_NS
