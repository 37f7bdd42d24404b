// The one way to run an op: infer the specs, run the kernel or stage a node, tell the tapes that watch.
// Observer and Stager are the only virtual interfaces: autodiff and graph implement them, core knows neither.
#pragma once
#include "tandem/core/observer.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS {

class Variable;

// ops/cast.hpp has it: half precision is computed in float32 where an op has no kernel for it.
TANDEM_API Tensor cast(const Tensor& x, DType to, OpOptions options);

/// One op that has run (or was staged).
struct Applied {
  const OpDef& op;
  Inputs in;
  const Attrs& attrs;
  std::span<const Tensor> out;
  const OpOptions* options = nullptr;  // null where the call had none
};

/// A callable without std::function: code and its argument.
struct Callable {
  void (*call)(void* self);
  void* self;
};

/// Takes the place of kernels while a function is traced: every op becomes a node, also one on concrete tensors.
struct Stager {
  virtual Tensors stage(const InferCall&, const Specs&) = 0;
  /// A Variable's value at this point of the program: a hidden input, bound at call time.
  virtual Tensor read(const Variable&) = 0;
  /// A hidden output, in program order.
  virtual void assign(const Variable&, const Tensor& value) = 0;
  /// Runs the body outside of the trace, at once (a Variable's initial value).
  virtual void lift(Callable body) = 0;
  /// A Variable was made while the function is traced; raises where that may not be.
  virtual void created(const Variable&) = 0;
  /// A name_scope of this path begins; returns the path that it gets, another one if the trace had it already.
  virtual std::string scope(std::string path) { return path; }
  /// The user made a constant and gave it a name.
  virtual void constant(const Tensor&, const OpOptions&) {}
  /// " (made by softmax at file.cpp:12)", for error texts.
  virtual std::string origin(const Tensor&) = 0;
  /// "MatMul:0", the first output of the op named MatMul; empty for a tensor that is not of this trace.
  virtual std::string name_of(const Tensor&) { return {}; }

 protected:
  ~Stager() = default;
};

/// Applies an op to its inputs. float16 and bfloat16, where the op has no kernel for them but one for float32, are
/// computed in float32 and each result is rounded.
///   throws  what the op's shape rule and kernel raise; nothing is recorded then, and the inputs are as they were
TANDEM_API Tensors apply(const OpDef& op, Inputs in, const Attrs& attrs = no_attrs,
                         const OpOptions& options = no_options);
/// The first output of an op, which is all that most have: the same, and quicker.
TANDEM_API Tensor apply_one(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options);
template <class... T>
Tensor apply1(const OpDef& op, const Attrs& attrs, const OpOptions& options, const T&... in) {
  const Tensor* const inputs[] = {&in...};
  return apply_one(op, inputs, attrs, options);
}

/// apply_one() of an elementwise op two of whose inputs may be the caller's to give away: the result takes over the
/// buffer of the first one that has its spec, that nobody else holds and that no tape could want; `first` or `second`
/// is then empty. Either may be null.
TANDEM_API Tensor apply_over(const OpDef& op, Inputs in, Tensor* first, Tensor* second);

/// The outputs' specs, after every check that apply() makes before a kernel runs, and of the number of inputs. For
/// loaders, whose calls no public function has checked; all inputs must lie on one device.
TANDEM_API Specs checked_specs(const OpDef& op, Inputs in, const Attrs& attrs);

/// Runs the kernel: no inference, no recording. `specs` are the outputs'; `reuse[i]`, where given and set, is the
/// buffer that output i takes over (in_place ops); as many as outputs, or none.
TANDEM_API Tensors run(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                       std::span<const Tensor> reuse = {});

namespace detail {
/// An error on its way out names the op as its users know it.
inline void name_op(errors::OpError& e, const OpDef& op) {
  if (op.in_errors && e.op() == op.name) e.set_op(op.in_errors);
}
/// run(), with a Profiler at work; kind: "op" or "step".
Tensors run_timed(const char* kind, const InferCall& call, const Specs& specs, std::span<const Tensor> reuse = {});
}  // namespace detail

}  // namespace TANDEM_NS
