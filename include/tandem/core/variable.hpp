// Variable: the only mutable object. A handle to a value, a lock and a name; copies of the handle share them.
#pragma once
#include <atomic>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/base/scalar.hpp"
#include "tandem/base/shape_arg.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/constraint.hpp"

namespace TANDEM_NS {

struct VariableOptions {
  TANDEM_OP_OPTIONS;
  bool trainable = true;       ///< false: ignored by tapes and optimizers
  bool aggregate = true;       ///< false: processes that train together (tandem::distribute) have values that
                               ///< differ, and do not add up their gradients
  i64 whole_rows = 0;          ///< > 0: the value is rows rank, rank + p, ... of a tensor of so many rows, of which
                               ///< each of p processes has its own; a Trainer saves it so that any p can go on
  Constraint constraint = {};  ///< what optimizers project the value to after each update: one of constraints::*
  std::optional<DType> dtype = {};  ///< default: the initial value's
  ShapeArg shape = {};              ///< checked: the initial value has this shape; `none` matches any size
};
class Literal;

/// A mutable tensor. Reads and assignments are each atomic. A value read earlier never changes: assign_add and
/// similar functions write in place only if the buffer has no other owner. While a function is traced, reads and
/// assignments become hidden inputs and outputs of the graph, in program order.
class TANDEM_API Variable : detail::operators::WithOperators<Variable> {
 public:
  /// An empty handle; any use raises.
  Variable() = default;
  /// Takes over the initial value; usable immediately.
  ///   throws  errors::InvalidArgumentError if the constraint does not return a value of the same shape and dtype, for
  ///           another shape than `.shape`, or a value that `.dtype` cannot represent (for a tensor: of a dtype that
  ///           is neither `.dtype` nor, where that is floating, a floating or integer one)
  explicit Variable(const Tensor& initial, VariableOptions options = {});
  /// Creates a Variable from a number, as constant() does: rank 0, float32 for float and double.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Variable(T initial, VariableOptions options = {})
      : Variable(number(initial, options.dtype.value_or(literal_dtype<T>)), std::move(options)) {}
  /// Creates a Variable from literals in braces, as constant() does: Variable({{1, 2.5}, {3, 4}}). For one number in
  /// braces write Variable(constant({1})).
  explicit Variable(const Literal& initial, VariableOptions options = {});

  bool is_set() const { return static_cast<bool>(state_); }
  bool is_same(const Variable& o) const { return state_ == o.state_; }
  const std::string& name() const;
  bool trainable() const;
  bool aggregate() const;
  i64 whole_rows() const;
  /// Applied by optimizers, and not by assignments.
  const Constraint& constraint() const;
  const Spec& spec() const;
  const Shape& shape() const { return spec().shape; }
  DType dtype() const { return spec().dtype; }
  Device device() const { return spec().device; }
  int rank() const { return shape().rank(); }
  i64 size() const { return shape().known_size(); }
  u64 id() const;

  /// The current value. A Variable converts to a Tensor by this function. To a tape, each read is a distinct value:
  /// only the reads that it has seen count as uses of the Variable.
  Tensor read_value() const;
  Tensor value() const { return read_value(); }
  operator Tensor() const { return read_value(); }
  /// Indexes the value, as for a tensor: v[i], v(Slice(1, 5), -1).
  Tensor operator[](i64 i) const { return read_value()[i]; }
  Tensor operator[](const Tensor& i) const { return read_value()[i]; }
  template <class I>
    requires(std::same_as<I, bool> || std::floating_point<I>)
  Tensor operator[](I) const = delete;
  template <class... I>
  Tensor operator()(const I&... items) const {
    return read_value()(items...);
  }
  template <class T>
  T item() const {
    return read_value().item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return read_value().to_vector<T>();
  }

  /// Replaces the value and returns the new one. A tape does not record an assignment as an op: a later read is a
  /// read of this Variable, and no gradient propagates to what the assigned value was computed from.
  ///   throws  errors::InvalidArgumentError if shape or dtype differ from the variable's
  Tensor assign(const Tensor& value) const;
  Tensor assign_add(const Tensor& delta) const;
  Tensor assign_sub(const Tensor& delta) const;
  /// Assigns, adds or subtracts a number, which is broadcast to the variable's shape.
  ///   throws  errors::InvalidArgumentError if the dtype cannot represent it (0.5 or 300 in int8)
  Tensor assign(Scalar value) const;
  Tensor assign_add(Scalar delta) const;
  Tensor assign_sub(Scalar delta) const;
  /// assign_add and assign_sub.
  const Variable& operator+=(const Tensor& delta) const { return assign_add(delta), *this; }
  const Variable& operator-=(const Tensor& delta) const { return assign_sub(delta), *this; }
  const Variable& operator+=(Scalar delta) const { return assign_add(delta), *this; }
  const Variable& operator-=(Scalar delta) const { return assign_sub(delta), *this; }
  /// Replaces slices of the value, adds to them or subtracts from them, by index vectors, in place where nothing else
  /// refers to the buffer: tensor_scatter_nd_update and its relatives (ops/index/scatter.hpp). Return the new value.
  /// In half precision the sums, maxima and minima are computed in float32 and assigned as a whole: not in place, and
  /// another thread's assignment may occur in between.
  ///   throws  errors::InvalidArgumentError for an index out of range or shapes that do not match,
  ///           errors::UnimplementedError for a dtype that tensor_scatter_nd_add and its relatives do not have; the
  ///           value is then unchanged
  Tensor scatter_nd_update(const Tensor& indices, const Tensor& updates) const;
  Tensor scatter_nd_add(const Tensor& indices, const Tensor& updates) const;
  Tensor scatter_nd_sub(const Tensor& indices, const Tensor& updates) const;
  /// The same for rows: replaces them, adds to them, subtracts from them, or combines them by maximum or minimum.
  Tensor scatter_update(const IndexedSlices& rows) const;
  Tensor scatter_add(const IndexedSlices& rows) const;
  Tensor scatter_sub(const IndexedSlices& rows) const;
  Tensor scatter_max(const IndexedSlices& rows) const;
  Tensor scatter_min(const IndexedSlices& rows) const;
  /// Restores the initial value.
  void reset() const;

  /// The value outside of any tape or trace; for savers and the library itself.
  Tensor value_untracked() const;
  void set_untracked(const Tensor& value) const;

  struct State;

 private:
  friend struct VariableAccess;
  friend TANDEM_API void update(const OpDef&, Span<const Variable>, Inputs, const Attrs&);
  friend TANDEM_API Tensor fetch_update(const OpDef&, const Variable&, Inputs, const Attrs&);
  State& state() const;
  void check_assignable(const char* op, const Tensor& value) const;
  static Tensor number(Scalar value, DType dtype);
  Tensor number_for(const char* op, Scalar value) const;
  Ref<Opaque> state_;  // a State, a complete type only inside the library
};

namespace detail {
/// Called for each new Variable with its handle at the address where it is made and its `.name`, or an empty one:
/// Models own those in their own bytes (module/model.hpp). Null until a Model is made.
using VariableMade = void (*)(const Variable& v, std::string_view name);
inline constinit std::atomic<VariableMade> variable_made = nullptr;
}  // namespace detail

/// tandem.Variable("w", [1, 2], shape=(2,), dtype=float32); without the values while a function is traced.
TANDEM_API std::string to_string(const Variable& v);
TANDEM_API std::ostream& operator<<(std::ostream& out, const Variable& v);

/// For graphs, whose calls hold the locks of the variables they assign. While a thread's call holds a lock, the same
/// thread reads the variable without it (in a host function) and does not assign it.
struct TANDEM_API VariableAccess {
  static const void* address(const Variable& v) { return v.state_.get(); }
  /// The order of addresses, in which several Variables are locked.
  static bool is_before(const Variable& a, const Variable& b);
  static void lock(const Variable& v);
  /// lock(), before which steps that follow each other let this thread pass.
  static void lock_in_turn(const Variable& v);
  /// False if the lock could not be had within the time.
  static bool try_lock_in_turn(const Variable& v, i64 nanoseconds);
  static void unlock(const Variable& v);
  /// Whether other threads wait in lock_in_turn().
  static bool has_waiting(const Variable& v);
  /// Checks before an assignment that no call on this thread holds the lock.
  ///   throws  errors::FailedPreconditionError with the variable's name if one does
  static void check_free(const Variable& v);
  /// The value itself; the caller holds the lock.
  static Tensor& value(const Variable& v);
  /// Whether at most `handles` handles to the variable are left.
  static bool is_kept_by(const Variable& v, unsigned handles) { return v.state_->refs() <= handles; }
};

/// Applies an in_place op whose first inputs are the variables' values and whose outputs are their new values: (w,
/// m, v, extra...) -> (w', m', v'). Writes in place where a buffer has no other owner. Either all variables change
/// or none. Not recorded by tapes. While tracing: one node, and an assignment for each variable.
TANDEM_API void update(const OpDef& op, Span<const Variable> variables, Inputs extra, const Attrs& attrs = no_attrs);
/// update() of one variable. Returns the replaced value, which stays unchanged. No assignment of another thread can
/// occur between the read and the update.
TANDEM_API Tensor fetch_update(const OpDef& op, const Variable& variable, Inputs extra, const Attrs& attrs = no_attrs);

}  // namespace TANDEM_NS
