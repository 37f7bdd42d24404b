// Definitions of core/apply.hpp.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/apply_inputs.hpp"
#include "tandem/core/invoke.hpp"
#include "tandem/core/print.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {
namespace detail {

// Adds the source location of a call, as far as it is known (operators only have the scope). The first location is
// kept.
[[gnu::cold, gnu::noinline]] TANDEM_INLINE void complete_error(errors::OpError& e, const OpDef& op,
                                                               const OpOptions& options) {
  // Of a result: too large for a number or for the memory, or of too many axes.
  if (e.op() == "allocate" || e.op() == "shape") e.set_op(op.name);
  name_op(e, op);
  if (options.name) e.set_name(options.name.view());
  if (const std::string line = line_text(options.where); !line.empty()) e.set_place("at " + line);
  errors::detail::place_error(e);
  if (context.scope) e.set_place("in the scope " + std::string(context.scope));
}
// Runs the body. An error that propagates gets the name and location of the call.
template <class F>
[[gnu::always_inline]] inline auto named(const OpDef& op, const OpOptions& options, const F& body) {
  try {
    return body();
  } catch (errors::OpError& e) {
    complete_error(e, op, options);
    throw;
  }
}
inline void tell(const Applied& a) {
  for (Observer* o = context.observers; o; o = o->next) TANDEM_VIRTUAL(*o, Observer::record)(a);
}

// Once the specs are known: runs or records the op and notifies the tapes.
inline Tensors apply_inferred(const InferCall& c, const Specs& specs) {
  Tensors out = context.stager   ? TANDEM_VIRTUAL(*context.stager, Stager::stage)(c, specs)
                : is_profiling() ? run_timed("op", c, specs)
                                 : run(c.op, c.in, c.attrs, specs);
  tell({c.op, c.in, c.attrs, {out.begin(), out.size()}, &c.options});
  return out;
}
inline Tensors apply_any(const InferCall& c) {
  const bool together = check_inputs(c);
  if (!has_kernel_dtype(c)) [[unlikely]]
    return apply_widened(c);
  if (!together) [[unlikely]]
    return apply_across(c.op, c.in, c.attrs, c.options);
  return apply_inferred(c, c.op.infer(c));
}

// Fast path: eager, a CPU kernel, with scratch or without, one output, fewer than 8 inputs, all with data on the host.
// The inputs are converted to the kernel's operands immediately and not read again.
[[gnu::always_inline]] inline bool is_plain(const OpDef& op, Inputs in, Operand* operands) {
  if (context.stager || !op.cpu || op.rare.host_kernel || op.rare.resolve || op.flags.alias) return false;
  if (is_profiling() || op.outputs != 1 || in.size() >= few_operands) return false;
  bool elsewhere = false;
  for (const Tensor* t : in) {
    if (!t->has_data()) return false;
    const Spec& s = t->known_spec();
    elsewhere |= s.device != Device{};
    *operands++ = {t->raw(), &s};
  }
  return !elsewhere;
}
[[gnu::always_inline]] inline Tensor run_plain(const InferCall& c, const Spec& spec, Operand* operands) {
  const std::size_t inputs = c.in.size();
  Tensor out = Tensor::allocate(spec);
  operands[inputs] = {out.raw(), &out.known_spec()};
  KernelCall call = kernel_call(c.op, operands, inputs, 1, c.attrs);
  if (c.op.flags.keeps_packed) call.packed = c.in[1]->packed_forms();
  if (c.op.workspace) launch(c.op, call, call.in);
  else c.op.cpu(call);
  tell({c.op, c.in, c.attrs, {&out, 1}, &c.options});
  return out;
}
[[gnu::always_inline]] inline Tensor apply_plain(const InferCall& c, Operand* operands) {
  if (!has_kernel_dtype(c)) [[unlikely]]
    return std::move(apply_widened(c)[0]);
  const Specs specs = c.op.infer(c);
  const bool plain = specs.size() == 1 && specs[0].device.kind == Device::cpu;
  return plain ? run_plain(c, specs[0], operands) : std::move(apply_inferred(c, specs)[0]);
}

// The same for a view of one tensor, on any device.
inline bool is_plain_view(const OpDef& op, Inputs in) {
  return op.flags.alias && op.outputs == 1 && in.size() == 1 && in[0]->has_data() && !context.stager && !is_profiling();
}
inline Tensor view_plain(const InferCall& c) {
  if (!has_kernel_dtype(c)) [[unlikely]]
    return std::move(apply_widened(c)[0]);
  const Tensor& x = *c.in[0];
  const Specs specs = c.op.infer(c);
  Tensor out = Tensor::view_of(x, specs[0], c.op.rare.offset ? c.op.rare.offset(x.known_spec(), c.attrs) : 0);
  tell({c.op, c.in, c.attrs, {&out, 1}, &c.options});
  return out;
}

}  // namespace detail

TANDEM_INLINE Tensors apply(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options) {
  return detail::named(op, options, [&] { return detail::apply_any({op, in, attrs, options}); });
}
TANDEM_INLINE Tensor apply_one(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options) {
  Operand operands[few_operands];
  if (!detail::is_plain(op, in, operands)) [[unlikely]] {
    if (!detail::is_plain_view(op, in)) return std::move(apply(op, in, attrs, options)[0]);
    return detail::named(op, options, [&] { return detail::view_plain({op, in, attrs, options}); });
  }
  const auto run = [&]() __attribute__((always_inline)) {
    return detail::apply_plain({op, in, attrs, options}, operands);
  };
  return detail::named(op, options, run);
}

TANDEM_INLINE Tensor apply_over(const OpDef& op, Inputs in, Tensor* first, Tensor* second) {
  Operand operands[few_operands];
  if (context.observers || op.workspace || !detail::is_plain(op, in, operands))
    return apply_one(op, in, no_attrs, no_options);
  const auto run = [&]() __attribute__((always_inline)) {
    const InferCall c{op, in, no_attrs, no_options};
    if (!detail::has_kernel_dtype(c)) [[unlikely]]
      return std::move(detail::apply_widened(c)[0]);
    const Specs specs = op.infer(c);
    const auto fits = [&](Tensor* t) { return t && t->is_unique() && t->known_spec() == specs[0]; };
    Tensor* const taken = fits(first) ? first : fits(second) ? second : nullptr;
    if (!taken) return detail::run_plain(c, specs[0], operands);
    operands[in.size()] = {taken->raw(), &taken->known_spec()};
    op.cpu(kernel_call(op, operands, in.size(), 1, no_attrs));
    taken->renew_id();
    return std::move(*taken);
  };
  return detail::named(op, no_options, run);
}

TANDEM_INLINE std::string detail::scope_path(const std::string& name) {
  std::string path = scoped_name(name);
  return context.stager ? TANDEM_VIRTUAL(*context.stager, Stager::scope)(std::move(path)) : path;
}
TANDEM_INLINE Specs checked_specs(const OpDef& op, Inputs in, const Attrs& attrs) {
  const detail::ShapeChecks lenient(false);
  const InferCall call{op, in, attrs, no_options};
  const int n = static_cast<int>(in.size());
  if (op.inputs < 0 ? n < -1 - op.inputs : n != op.inputs)
    detail::raise_specs(call, "takes " + std::to_string(op.inputs < 0 ? -1 - op.inputs : op.inputs) +
                                  (op.inputs < 0 ? " or more inputs" : " inputs") + ", not " + std::to_string(n));
  const bool together = detail::check_inputs(call);
  if (!detail::has_kernel_dtype(call)) {
    const Spec& s = call.spec(static_cast<std::size_t>(op.dtype_input));
    detail::raise_dtype(call, s.dtype, s.device);
  }
  if (!together)
    errors::raise<errors::InvalidArgumentError>(op.name,
                                                "the inputs are on different devices: " + detail::named_inputs(call));
  return op.infer(call);
}

}  // namespace TANDEM_NS
