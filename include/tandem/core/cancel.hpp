// Deadlines and cancellation: CallOptions say when calls of traced functions on this thread give up, between two nodes.
// Not here: where that is checked (graph/exec).
#pragma once
#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

/// A flag by which one thread ends the calls of others. Copies share it.
class TANDEM_API CancelToken {
 public:
  CancelToken() : flag_(make_ref<Flag>()) {}
  /// Ends all calls with this token, those that run and later ones. From any thread; also in a signal handler.
  void cancel() const { flag_->is_set.store(true, std::memory_order_release); }
  bool is_cancelled() const { return flag_->is_set.load(std::memory_order_acquire); }

 private:
  struct Flag final : Opaque {
    const char* kind() const override { return "cancel token"; }
    std::atomic<bool> is_set{false};
  };
  Ref<Flag> flag_;
};

/// A moment after which nobody waits for a result, by the system's monotonic clock. Made without arguments, it never
/// comes.
class TANDEM_API Deadline {
 public:
  Deadline() = default;
  /// That many seconds from now; 0 or less has passed, what exceeds 100 years never comes.
  static Deadline after(double seconds);
  bool has_passed() const;
  /// The earlier one is less.
  friend auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  i64 at_ = INT64_MAX;  // in nanoseconds
};

/// When a call gives up.
struct CallOptions {
  Deadline deadline = {};
  std::optional<CancelToken> cancel = {};
};

/// Applies CallOptions to all calls of traced functions that this thread begins in the scope, inside of those of outer
/// scopes. A call that has run out of time, or is cancelled, raises before its next node: also in the bodies of control
/// flow and in branches that other threads run. Its effects are those of the nodes before, as in a call that fails. A
/// node that runs is not interrupted, nor are eager ops.
///     const CallScope scope({.deadline = Deadline::after(0.05), .cancel = token});
class TANDEM_API CallScope {
 public:
  [[nodiscard]] explicit CallScope(CallOptions options);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  ~CallScope();
  /// Raises if this scope or an outer one ends calls.
  ///   what    where a call would go on, for the error's text: "before node 'MatMul_1' (matmul), 3 of 12"
  ///   throws  errors::CancelledError, errors::DeadlineExceededError in the name of `op`
  void check(const char* op, const std::string& what) const;
  /// Whether check() would raise.
  bool ends() const;

 private:
  const CallOptions options_;
  const CallScope* const outer_;
};

namespace detail {
/// The innermost CallScope of this thread.
extern TANDEM_API constinit thread_local const CallScope* call_scope;
}  // namespace detail

}  // namespace TANDEM_NS
