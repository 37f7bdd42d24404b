// host_function: C++ code that runs on the host as an op, also inside traced functions. Not here: gradients of one's
// own (autodiff/custom_gradient.hpp), ops with kernels of their own (core/op.hpp; CONTRIBUTING has an example).
#pragma once
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct HostFunctionOptions {
  TANDEM_OP_OPTIONS;
  bool stateful = true;  ///< false: a pure function of its inputs; calls may then be merged, folded or left out
};

namespace detail {

/// The code of a host function and the specs of its results.
class TANDEM_API HostCode : public Opaque {
 public:
  explicit HostCode(std::vector<Spec> specs) : results(std::move(specs)) {}
  const char* kind() const override { return "closure"; }
  virtual std::vector<Tensor> call(Span<const Tensor> in) const = 0;

  const std::vector<Spec> results;
};
struct HostFunctionAttrs {
  Ref<HostCode> code;
  TANDEM_ATTRS(HostFunctionAttrs, code);
};

[[noreturn]] TANDEM_API void raise_host_inputs(int takes, std::size_t given);

template <class F>
class HostClosure final : public HostCode {
 public:
  HostClosure(F f, std::vector<Spec> specs) : HostCode(std::move(specs)), f_(std::move(f)) {}
  std::vector<Tensor> call(Span<const Tensor> in) const override { return listed(call_with(in)); }
  /// The number of tensors that the code takes; -1: it takes the list.
  static constexpr int arity() {
    if constexpr (std::is_invocable_v<const F&, const std::vector<Tensor>&>) return -1;
    else if constexpr (std::is_invocable_v<const F&>) return 0;
    else if constexpr (std::is_invocable_v<const F&, const Tensor&>) return 1;
    else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Tensor&>) return 2;
    else return 3;
  }

 private:
  auto call_with(Span<const Tensor> in) const {
    if constexpr (arity() < 0) return f_(std::vector<Tensor>(in.begin(), in.end()));
    else if constexpr (arity() == 0) return f_();
    else if constexpr (arity() == 1) return f_(in[0]);
    else if constexpr (arity() == 2) return f_(in[0], in[1]);
    else return f_(in[0], in[1], in[2]);
  }
  static std::vector<Tensor> listed(Tensor t) { return {std::move(t)}; }
  static std::vector<Tensor> listed(std::vector<Tensor> t) { return t; }

  F f_;
};

TANDEM_API std::vector<Tensor> apply_host_function(const std::vector<Tensor>& in, Ref<HostCode> code,
                                                   const HostFunctionOptions& options);

}  // namespace detail

/// Runs f on the host as an op: eagerly at once, in a traced function at each of its calls. In f the tensors have
/// values and lie in host memory, so that it may read them, loop over them and call other libraries:
/// `host_function([](const Tensor& x) { return constant(my_filter(x.to_vector<float>())); }, {x}, TensorSpec({none}))`.
///
///   f        takes the tensors (at most three) or the list as const std::vector<Tensor>&, and returns a Tensor or a
///            std::vector<Tensor>. A copy of it is kept as long as a traced function needs it. It may run on several
///            threads at once. Its own ops are neither recorded nor traced. It may read and assign Variables, except
///            that what the traced function assigns, which stays locked during its call, can only be read, and only on
///            the thread that f runs on
///   in       any dtypes and devices; copied to the host where they are not there
///   out      the spec of each result; `none` for sizes that depend on the data
///   returns  a tensor, or a vector for a vector of specs, on the device of the first input
///   throws   errors::InvalidArgumentError if the results do not match `out`, errors::FailedPreconditionError if f
///            assigns a Variable that the traced function assigns too, and whatever f throws
///   gradient none (errors::UnimplementedError on the path of a gradient); custom_gradient
///            (autodiff/custom_gradient.hpp) adds one, whose backward function may call host_function again
template <class F>
std::vector<Tensor> host_function(F f, const std::vector<Tensor>& in, const std::vector<TensorSpec>& out,
                                  HostFunctionOptions options = {}) {
  using Closure = detail::HostClosure<F>;
  if (Closure::arity() >= 0 && static_cast<std::size_t>(Closure::arity()) != in.size())
    detail::raise_host_inputs(Closure::arity(), in.size());
  Ref<detail::HostCode> code(new Closure(std::move(f), out));
  return detail::apply_host_function(in, std::move(code), options);
}
template <class F>
Tensor host_function(F f, const std::vector<Tensor>& in, const TensorSpec& out, HostFunctionOptions options = {}) {
  return host_function(std::move(f), in, std::vector<TensorSpec>{out}, options)[0];
}

// Not in the op table: a graph file cannot contain code.
extern TANDEM_API const OpDef host_function_op, pure_host_function_op;

}  // namespace TANDEM_NS
