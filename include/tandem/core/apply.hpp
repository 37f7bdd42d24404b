// Applies ops: infers the specs, runs the kernel or records a node, notifies the observing tapes. All ops run
// through here.
// Observer and Stager are the only virtual interfaces. They are implemented by autodiff and graph, on which core
// does not depend.
#pragma once
#include "tandem/core/observer.hpp"
#include "tandem/core/op.hpp"
#include "tandem/core/replaceable.hpp"

namespace TANDEM_NS {

class Variable;

// Defined in ops/cast.hpp: half precision is computed in float32 where an op has no kernel for it.
TANDEM_API Tensor cast(const Tensor& x, DType to, OpOptions options);

/// One op that has run or was recorded in a trace.
struct Applied {
  const OpDef& op;
  Inputs in;
  const Attrs& attrs;
  Span<const Tensor> out;
  const OpOptions* options = nullptr;  // null if the call had none
};

/// A type-erased callable without std::function: code and its argument.
struct Callable {
  void (*call)(void* self);
  void* self;
};

/// The same of tensors: what a loop does in each iteration.
struct LoopBody {
  std::vector<Tensor> (*call)(const void* self, Span<const Tensor> in);
  const void* self;
};

/// Records ops instead of executing them while a function is traced: every op becomes a node, even one on concrete
/// tensors.
struct Stager {
  virtual Tensors stage(const InferCall&, const Specs&) = 0;
  /// Reads a Variable's value at this point of the program: a hidden input, bound when the function is called.
  virtual Tensor read(const Variable&) = 0;
  /// Assigns a Variable: a hidden output, in program order.
  virtual void assign(const Variable&, const Tensor& value) = 0;
  /// Runs the body immediately and outside of the trace (a Variable's initial value).
  virtual void lift(Callable body) = 0;
  /// Called when a Variable is created while the function is traced; raises where that is not allowed.
  virtual void created(const Variable&) = 0;
  /// Enters a name_scope of this path and returns its path in the trace, which differs if the trace already has that
  /// scope.
  virtual std::string scope(std::string path) { return path; }
  /// Stages the result of a custom gradient: a view of `value` with that backward function (a detail::CustomBackward).
  /// Unset: the caller applies its own op.
  virtual Tensor custom_gradient(const Tensor& value, Inputs in, const Opaque& backward) {
    (void)value, (void)in, (void)backward;
    return Tensor();
  }
  /// Stages a loop over the first axis of `rows`: body (carried..., a row of each) -> (carried..., results...). Returns
  /// the carried values after it, then all results, stacked. Unset: raises, since not every stager has loops.
  ///   op  is named in errors
  virtual std::vector<Tensor> loop(const char* op, std::vector<Tensor> carried, std::vector<Tensor> rows, LoopBody) {
    (void)carried;
    errors::raise<errors::InvalidArgumentError>(
        op, "a loop over the unknown number of rows of " + to_string(rows[0].spec()) + " needs a function()");
  }
  /// Called when code asks which modules are frozen (Module::set_trainable): what it does from there on may depend on
  /// the answer.
  virtual void reads_frozen() {}
  /// Called when code reads what may be replaced later: the trace is of this version.
  virtual void reads_place(const PlaceRead&) {}
  /// Called when the user creates a named constant.
  virtual void constant(const Tensor&, const OpOptions&) {}
  /// The op that produced a tensor, for error texts: " (made by softmax at file.cpp:12)".
  virtual std::string origin(const Tensor&) = 0;
  /// The name of a tensor: "MatMul:0", the first output of the op named MatMul; empty if it does not belong to this
  /// trace.
  virtual std::string name_of(const Tensor&) { return {}; }

 protected:
  ~Stager() = default;
};

/// Applies an op to its inputs. If the op has a float32 kernel but none for float16 or bfloat16, it is computed in
/// float32 and each result is rounded.
///   throws  what the op's shape rule and kernel raise; in that case nothing is recorded and the inputs are unchanged
TANDEM_API Tensors apply(const OpDef& op, Inputs in, const Attrs& attrs = no_attrs,
                         const OpOptions& options = no_options);
/// Applies an op and returns its first output, the only one for most ops. Faster than apply().
TANDEM_API Tensor apply_one(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options);
template <class... T>
Tensor apply1(const OpDef& op, const Attrs& attrs, const OpOptions& options, const T&... in) {
  const Tensor* const inputs[] = {&in...};
  return apply_one(op, inputs, attrs, options);
}

/// Applies an elementwise op, with buffer donation from up to two of its inputs. The result reuses the buffer of the
/// first of them that has the result's spec, has no other owner and cannot be needed by a tape; `first` or `second`
/// is then empty. Either may be null.
TANDEM_API Tensor apply_over(const OpDef& op, Inputs in, Tensor* first, Tensor* second);

/// Infers the outputs' specs after the checks that apply() makes before a kernel runs, and after checking the number
/// of inputs. For loaders, whose calls have not been checked by a public function. All inputs must be on one device.
/// StrictShapes does not apply: the calls are not the user's own.
TANDEM_API Specs checked_specs(const OpDef& op, Inputs in, const Attrs& attrs);

/// Runs the kernel without shape inference or recording. `specs` are the outputs' specs. `reuse` has one entry per
/// output or none: a set `reuse[i]` is the buffer that output i takes over (in_place ops).
TANDEM_API Tensors run(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                       Span<const Tensor> reuse = {});

namespace detail {
/// Replaces the op's name in an error that propagates by the one its users know.
inline void name_op(errors::OpError& e, const OpDef& op) {
  if (op.rare.in_errors && e.op() == op.name) e.set_op(op.rare.in_errors);
}
/// run() while a Profiler is active; kind: "op" or "step".
Tensors run_timed(const char* kind, const InferCall& call, const Specs& specs, Span<const Tensor> reuse = {});
}  // namespace detail

}  // namespace TANDEM_NS
