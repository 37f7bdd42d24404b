// The definition of an op: one struct of named fields. Optimizer, serializer, tests and docs read it; there is no
// second list.
#pragma once
#include "tandem/base/location.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/util/for_each.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS {

struct OpDef;
using Specs = InlinedVector<Spec, 1>;
using Tensors = InlinedVector<Tensor, 2, memory::Blocks>;
using Grads = InlinedVector<Gradient, 2>;
using Inputs = Span<const Tensor* const>;  // pointers: a span of Tensors would copy handles, 4 ns each

/// What the gradient rule reads (the residuals). `shape`: the inputs' shapes, not their data.
enum class Saves : std::uint8_t { all, inputs, outputs, shape, nothing };

/// The operands of an early op lie in its result one behind another, each at a multiple of so many bytes.
inline constexpr std::size_t early_alignment = 64;

struct Flags {
  bool pointwise = false;           // elementwise with broadcasting; the tape reduces gradients to the inputs' shapes
  bool alias = false;               // the outputs are consecutive views of input 0; no kernel
  bool random = false;              // a pure function of its key; never merged or folded in a trace
  bool stateful = false;            // prints, asserts: keeps its order, never eliminated
  bool in_place = false;            // output i may share input i's buffer; the kernel supports both
  bool non_differentiable = false;  // by definition: gradients stop here
  bool commutative = false;         // f(a, b) and f(b, a) are equal
  bool nondeterministic = false;
  bool own_width = false;        // the result depends on the dtype's width: half precision is not computed in float32
  bool keeps_packed = false;     // the CPU kernel packs input 1, and keeps what it packed (core/packed.hpp)
  bool takes_half = false;       // the CPU kernel reads and writes half precision; elsewhere its operands are cast
  bool cuda_takes_half = false;  // so does the CUDA kernel
  bool collective = false;       // talks to other processes: stateful, and keeps its order among these
  bool early = false;            // begins work on its result that runs beside the program; has RareColumns::hold
};

struct InferCall {
  const OpDef& op;
  Inputs in;
  const Attrs& attrs;
  const OpOptions& options;

  const Spec& spec(std::size_t i) const { return in[i]->known_spec(); }  // the caller of a rule has checked the inputs
  template <class A>
  const A& get() const {
    return attrs.get<A>();
  }
};

struct GradCall {
  const OpDef& op;
  Span<const Tensor> g;        // by output; unset if no gradient reaches it
  Span<const Tensor> in, out;  // as the op's `saves` declares; others are unset
  const Attrs& attrs;
  std::uint64_t wanted;

  /// Whether the gradient of input i is needed; others need not be computed. Inputs from 63 on have one answer.
  bool needs(std::size_t i) const { return wanted >> (i < 63 ? i : 63) & 1u; }
  template <class A>
  const A& get() const {
    return attrs.get<A>();
  }
};

/// Declares which gradient a backward op computes and what its inputs are: the first `inputs` inputs of the forward
/// op, then the residuals, from `upstream` on the gradients of its first `outputs` outputs, then any further forward
/// inputs. Its value is then defined as the derivative of the forward op's decomposition, which makes it differentiable
/// itself.
struct BackwardOf {
  const OpDef* forward;
  std::uint8_t inputs, upstream, outputs;
};

/// The `inputs` value of an op that takes n or more inputs.
constexpr std::int8_t at_least(int n) { return static_cast<std::int8_t>(-1 - n); }

/// The columns of an OpDef that few ops have.
struct RareColumns {
  Tensors (*decomposition)(Span<const Tensor>, const Attrs&) = nullptr;  // the decomposition of a fused op
  const BackwardOf* backward_of = nullptr;                    // in place of `decomposition`, for backward ops
  const OpDef* multi_tensor = nullptr;                        // the multi-tensor version of this update
  const OpDef* with_epilogue = nullptr;                       // convolutions: the op with what follows them
  Specs (*resolve)(const KernelCall&) = nullptr;              // infers data-dependent output dims
  Tensors (*host_kernel)(Inputs in, const Attrs&) = nullptr;  // in place of a kernel: control flow
  // Early ops: a call has failed; keeps the result while what was begun on it runs.
  void (*hold)(const Attrs&, const Tensor& result) = nullptr;
  std::size_t (*offset)(const Spec& in, const Attrs&) = nullptr;  // alias ops: byte offset of the view
  std::uint8_t host_tail = 0;  // so many of the last inputs live in host memory everywhere: of an op of any number
  std::uint16_t wide_inputs = 0, wide_outputs = 0;  // float32 where the others have half precision: saved statistics
  const char* display = nullptr;                    // where the derived name would be wrong
  const char* in_errors = nullptr;  // the name in error texts of an op that users do not call by its name
};

struct OpDef {
  const char* name;                        // snake_case; the display name is derived
  const char* input_names = "x";           // "x, w", for error texts; optional ones follow; "list...": any number
  Specs (*infer)(const InferCall&);        // the only shape rule
  KernelFn cpu = nullptr, cuda = nullptr;  // null: not supported on that device
  DenseLoop (*loop)(DType, const Attrs&) = nullptr;                    // by the last input's dtype
  Grads (*gradient)(const GradCall&) = nullptr;                        // null: missing; using it raises
  std::size_t (*workspace)(Span<const Spec>, const Attrs&) = nullptr;  // scratch bytes, from the inputs' specs
  DTypes dtypes = dtypes::all;                                         // of input `dtype_input`; checked before infer
  std::int8_t dtype_input = 0;                                         // -1: dtypes applies to no input
  std::int8_t inputs = 1, outputs = 1;                                 // inputs: or at_least(n); outputs -1: any number
  Saves saves = Saves::all;
  std::uint16_t host_inputs = 0;   // inputs that live in host memory everywhere
  std::uint16_t shape_inputs = 0;  // inputs of which only the shape is read ('like')
  Flags flags = {};
  const detail::AttrType* attrs = nullptr;  // &detail::attr_type<XAttrs>, which loaders construct; null: no attributes
  RareColumns rare = {};
};

// `loop` is for groups of ops that run tile by tile (ops/fused/fused.hpp). It is null, or its `run` is null, if
// the CPU kernel of the op (or of this dtype) is more than a loop over equal shapes; the op is then not fused.
// `params` points into the attributes passed.

// `multi_tensor` is for updates (states..., gradient, rest...) -> (states'...): the multi-tensor op that performs
// several of them with one rest and, optionally, a scalar by which all gradients are multiplied first: (states of the
// first..., of the second..., ..., gradient of each..., factor, rest...) -> all states'.

// `with_epilogue` is for ops with two inputs and rules::ConvAttrs: the op with these, up to three vectors (bias, scale,
// offset) and rules::FusedConvAttrs that computes activation((y + bias) * scale + offset).

/// Whether host_inputs or shape_inputs contains input i; bit 15 stands for all inputs from 15 on.
constexpr bool names_input(std::uint16_t mask, std::size_t i) { return mask >> (i < 15 ? i : 15) & 1u; }

/// Whether input i of so many lives in host memory on every device.
constexpr bool lives_on_host(const OpDef& op, std::size_t i, std::size_t inputs) {
  return names_input(op.host_inputs, i) || i + op.rare.host_tail >= inputs;
}

/// The name in traces and in errors about gradients: "MatMul" for "matmul", "ReduceSum" for "reduce_sum".
TANDEM_API std::string display_name(const OpDef& op);

/// The name of input i: "w", "list[2]".
TANDEM_API std::string input_name(const OpDef& op, std::size_t i);

namespace detail {
/// The inputs by name, with their devices if these differ: "x is float32[3], w is int32[3]".
TANDEM_API std::string named_inputs(const InferCall& c);
/// Raises E in the op's name with `what` and the specs of all inputs: "add: shapes do not broadcast: float32[3] x
/// float32[2]".
template <class E = errors::InvalidArgumentError>
[[noreturn, gnu::cold, gnu::noinline]] void raise_specs(const InferCall& c, const std::string& what,
                                                        const std::string& hint = {}) {
  std::string s = what + ":";
  for (std::size_t i = 0; i < c.in.size(); ++i) s += (i ? " x " : " ") + to_string(c.in[i]->spec());
  if (!hint.empty()) s += " (" + hint + ")";
  errors::raise<E>(c.op.name, s);
}
// What makes input i of the dtype of input k: "cast one of them: cast(x, float32)".
[[gnu::cold, gnu::noinline]] inline std::string cast_hint(const InferCall& c, std::size_t i, std::size_t k) {
  return "cast one of them: cast(" + input_name(c.op, i) + ", " + tandem::name(c.spec(k).dtype) + ")";
}
/// For shape rules of backward ops: raises unless input 0, the upstream gradient, has the shape that the forward
/// op's rule infers for `in`.
inline void check_upstream(const InferCall& c, Specs (*forward)(const InferCall&), const Attrs& attrs, Inputs in) {
  if (!forward({c.op, in, attrs, c.options})[0].shape.is_compatible_with(c.spec(0).shape))
    raise_specs(c, "gradient shape does not match result shape");
}
}  // namespace detail

}  // namespace TANDEM_NS

/// TANDEM_OPS(name, a, b, ...): declares a_op, b_op, ... and the array `name` of their addresses, for the op table.
#define TANDEM_OPS(name, ...)                    \
  TANDEM_FOR_EACH(TANDEM_EXTERN_OP, __VA_ARGS__) \
  inline constexpr const OpDef* name[] = {TANDEM_FOR_EACH(TANDEM_OP_ADDRESS, __VA_ARGS__)};
#define TANDEM_EXTERN_OP(op) extern TANDEM_API const OpDef op##_op;
#define TANDEM_OP_ADDRESS(op) &op##_op,
