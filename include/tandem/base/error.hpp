// Error types and the one function that throws them. A message names the op, the problem, the actual specs and,
// where possible, a hint.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::errors {

enum class Code {  ///< kinds of errors, with the numbers of gRPC's status codes
  cancelled = 1,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15
};

/// The base class of everything the library throws. what() begins with the op's name and ends with the location of
/// the call, if it is known: "matmul 'logits': inner dimensions differ: float32[2,3] x float32[4,5] (at
/// train.cpp:12)".
class TANDEM_API OpError : public std::runtime_error {
 public:
  // Out of line, because every kind of error would repeat the code for seven strings.
  [[gnu::cold]] TANDEM_INLINE OpError(Code code, std::string op, const std::string& what);
  [[gnu::cold]] TANDEM_INLINE OpError(const OpError&);
  [[gnu::cold]] TANDEM_INLINE ~OpError() override;
  OpError& operator=(const OpError&) = default;
  const char* what() const noexcept override { return text_.empty() ? std::runtime_error::what() : text_.c_str(); }
  /// what() without the location, for an error that repeats it and adds its own.
  std::string message() const { return op_ + name_ + ": " + detail_ + context_; }
  /// The name of the op or function that failed, e.g. "matmul".
  const std::string& op() const { return op_; }
  /// The error code, numbered as in gRPC.
  Code code() const { return code_; }
  /// Adds the user's name of the call and its location while the error propagates; the first values set are kept.
  void set_name(std::string_view name) { set(name_, " '" + std::string(name) + "'"); }
  void set_place(std::string_view place) {
    set(place_, (detail_.find('\n') == std::string::npos ? " (" : "\n(") + std::string(place) + ")");
  }
  /// Adds what the failing call was part of: "in the gradient of Sqrt", "in net/dense_1"; the first value set is kept.
  void set_context(std::string_view context) { set(context_, " (" + std::string(context) + ")"); }
  bool has_context() const { return !context_.empty(); }
  /// Replaces the op's name by the one its users know.
  void set_op(std::string_view op) { op_ = op, compose(); }

 private:
  void set(std::string& part, std::string text) {
    if (part.empty()) part = std::move(text), compose();
  }
  [[gnu::cold]] void compose() { text_ = op_ + name_ + ": " + detail_ + context_ + place_; }

  std::string op_, detail_, name_, context_, place_, text_;
  Code code_;
};

// f(class, code) for every kind of error. InvalidArgumentError: shapes, dtypes, values, indices. OutOfRangeError: the
// end of a sequence or iterator. UnimplementedError: no kernel for a dtype or device, no gradient.
// ResourceExhaustedError: memory, disk. DataLossError: a truncated or corrupt file.
#define TANDEM_ERROR_KINDS(f)                                                                                          \
  f(InvalidArgumentError, invalid_argument) f(OutOfRangeError, out_of_range)                                           \
      f(FailedPreconditionError, failed_precondition) f(UnimplementedError, unimplemented) f(NotFoundError, not_found) \
          f(AlreadyExistsError, already_exists) f(ResourceExhaustedError, resource_exhausted)                          \
              f(DataLossError, data_loss) f(AbortedError, aborted) f(CancelledError, cancelled)                        \
                  f(DeadlineExceededError, deadline_exceeded) f(UnavailableError, unavailable)                         \
                      f(InternalError, internal)

#define TANDEM_ERROR(Name, code_value)                                                                \
  class TANDEM_API Name : public OpError {                                                            \
   public:                                                                                            \
    Name(std::string op, const std::string& what) : OpError(Code::code_value, std::move(op), what) {} \
  };
TANDEM_ERROR_KINDS(TANDEM_ERROR)
#undef TANDEM_ERROR

/// A value was requested that is unknown while a function is traced.
class TANDEM_API TraceError : public FailedPreconditionError {
 public:
  TraceError(std::string op, const std::string& what) : FailedPreconditionError(std::move(op), what) {}
};
/// A CUDA library or driver call failed. Names the op that launched it.
class TANDEM_API CudaError : public InternalError {
 public:
  CudaError(std::string op, const std::string& what) : InternalError(std::move(op), what) {}
};

namespace detail {
/// Adds the name and source line of the call that this thread is in, where they are known (core/scope.hpp).
TANDEM_API void place_error(OpError& e);
}  // namespace detail

/// Throws E. Out of line, so that a check costs its caller one predicted branch; for the library's own kinds of errors
/// the code is in the library (base/error.inl).
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void raise(const char* op, const std::string& what) {
  E e(op, what);
  detail::place_error(e);
  throw e;
}
#if !TANDEM_IS_HEADER_ONLY
#define TANDEM_RAISE(Name, ...) extern template TANDEM_API void raise<Name>(const char*, const std::string&);
TANDEM_ERROR_KINDS(TANDEM_RAISE)
TANDEM_RAISE(TraceError)
TANDEM_RAISE(CudaError)
#undef TANDEM_RAISE
#endif

}  // namespace TANDEM_NS::errors
