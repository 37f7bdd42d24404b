// Replication: what code that trains on several processes does for code that does not know of it: Variables,
// optimizers, the Trainer. Implemented by strategies (the component tandem::distribute).
#pragma once
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/device.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/context.hpp"
#include "tandem/core/indexed_slices.hpp"

namespace TANDEM_NS {

class Graph;
class Variable;

/// The replicas of a training step: processes that run the same program on different rows. All of them call the same
/// functions in the same order.
struct Replication {
  /// A number that no other replication of the process has had.
  virtual u64 id() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// In how many parts a batch is divided, whatever size() is, so that results do not depend on it; 0: in size() ones.
  virtual int virtual_shards() const = 0;
  /// Where the parts are computed, one device for each; none: where the batch is.
  virtual Span<const Device> shard_devices() const = 0;
  /// The initial value of a trainable Variable that is being made: rank 0's. Not for those without `.aggregate`.
  virtual Tensor initial(const Tensor& value) = 0;
  /// The sums of the replicas' gradients. Unset ones, which are so everywhere, stay unset, and those of Variables
  /// without `.aggregate` what they are.
  ///   gradients  of the Variables, and then whatever else is to be added up with them
  ///   factor     what this replica has multiplied its gradients by, for what is kept of them from step to step: a
  ///              scalar, at least 0; unset: 1
  virtual std::vector<Gradient> sum_gradients(const std::vector<Gradient>& gradients,
                                              const std::vector<Variable>& variables, const Tensor& factor) = 0;
  /// The sum of a tensor over the replicas, now or in a trace.
  virtual Tensor sum(const Tensor& x) = 0;
  /// Replaces each number by the largest that a replica has, now.
  virtual void largest(std::vector<i64>& numbers) = 0;
  /// Compares a traced function with those of the other replicas, which trace it, too, before they first run it.
  ///   returns  false if nothing in it is done together: then nothing was compared
  ///   throws   errors::FailedPreconditionError, in all of them, if they differ
  virtual bool agree(const Graph& graph, const std::string& function) = 0;
  /// Tells the others, for their errors, which step begins.
  virtual void begin_step(i64 step) = 0;
  /// Tells the others, who may wait for this process, of an error that has ended what they do together. Nothing happens
  /// to those that raise one at the same point.
  virtual void tell_of_error(const std::exception_ptr& error) = 0;

 protected:
  ~Replication() = default;
};

namespace detail {
/// Into how many parts this process divides the batch of the training step that this thread computes: it computes them
/// one after another. 1: it does not.
extern TANDEM_API constinit thread_local i64 parts_of_batch;
}  // namespace detail

/// Sets the replication of this thread for a scope; null: what is called in the scope is not replicated.
class [[nodiscard]] ReplicationScope {
 public:
  explicit ReplicationScope(Replication* r) : outer_(std::exchange(detail::replication, r)) {}
  ReplicationScope(const ReplicationScope&) = delete;
  ReplicationScope& operator=(const ReplicationScope&) = delete;
  ~ReplicationScope() { detail::replication = outer_; }

 private:
  Replication* const outer_;
};

namespace detail {
/// Calls f, and tells the other processes of a replication, if there are any, of what it raises.
template <class F>
auto with_report(Replication* of, const F& f) {
  try {
    return f();
  } catch (...) {
    if (of && TANDEM_VIRTUAL(*of, Replication::size)() > 1)
      TANDEM_VIRTUAL(*of, Replication::tell_of_error)(std::current_exception());
    throw;
  }
}
}  // namespace detail

}  // namespace TANDEM_NS
