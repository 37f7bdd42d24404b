// Definitions of core/apply.hpp.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/apply_inputs.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/print.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {
namespace detail {

// Output i is a view of input i. Several outputs of one input (unstack, split) are consecutive.
TANDEM_INLINE Tensors run_alias(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs) {
  Tensors out;
  out.reserve(specs.size());
  std::size_t at = 0;
  for (unsigned i = 0; i < specs.size(); ++i) {
    const Tensor& x = *in[in.size() > 1 ? i : 0];
    if (!x.raw()) {
      out.push(Tensor::symbol(specs[i]));
      continue;
    }
    if (i == 0 || in.size() > 1) at = op.rare.offset ? op.rare.offset(x.spec(), attrs) : 0;
    out.push(Tensor::view_of(x, specs[i], at));
    at += specs[i].bytes();
  }
  return out;
}
// Sets up everything that a kernel call needs besides operands if it runs on a device or uses scratch.
[[gnu::noinline]] TANDEM_INLINE void launch(const OpDef& op, KernelCall& call, std::span<const Operand> in) {
  const Device device = !call.out.empty() ? call.out[0].spec->device : in.empty() ? Device{} : in[0].spec->device;
  std::size_t bytes = 0;
  if (op.workspace) {
    InlinedVector<Spec, 4> specs;
    for (const Operand& o : in) specs.push(*o.spec);
    bytes = op.workspace({specs.begin(), specs.size()}, call.attrs);
  }
  if (device.kind == Device::cpu) {
    const memory::Scratch scratch(bytes);
    call.workspace = scratch.data();
    op.cpu(call);
    return;
  }
  const Backend& b = backend_of(device);
  call.workspace = bytes ? b.allocate(bytes, device.index) : nullptr;
  try {
    b.launch(op, call, device);
  } catch (...) {
    if (call.workspace) b.release(call.workspace, bytes, device.index);
    throw;
  }
  if (call.workspace) b.release(call.workspace, bytes, device.index);
}

// Computes the output specs that depend on data. The data is read on the host: that of the host_inputs, or of all
// inputs if the op declares none.
[[gnu::noinline]] TANDEM_INLINE Specs resolve(const OpDef& op, KernelCall call, Inputs in,
                                              std::span<Operand> operands) {
  Tensors fetched;
  InlinedVector<Operand, 8> host;
  for (std::size_t i = 0; i < in.size(); ++i) {
    host.push(operands[i]);
    if (!in[i]->raw() && !names_input(op.shape_inputs, i)) check_value(op.name, *in[i]);
    if (op.host_inputs || !in[i]->raw() || in[i]->device().kind == Device::cpu) continue;
    const Tensor& t = fetched.push(Tensor::allocate({in[i]->shape(), in[i]->dtype(), {}}));
    copy_bytes(t.raw(), {}, in[i]->raw(), in[i]->device(), t.spec().bytes());
    host[i].data = t.raw();
  }
  call.in = {host.begin(), in.size()};
  return op.rare.resolve(call);
}

[[gnu::cold, gnu::noinline]] TANDEM_INLINE Tensors run_timed(const char* kind, const InferCall& c, const Specs& specs,
                                                             std::span<const Tensor> reuse) {
  InlinedVector<Spec, 8> held;  // an in-place op's inputs are gone after it has run
  InlinedVector<const Spec*, 8> in, out;
  for (const Tensor* t : c.in) held.push(t->spec());
  for (const Spec& s : held) in.push(&s);
  const i64 start = profile_now();
  Tensors made = run(c.op, c.in, c.attrs, specs, reuse);
  for (const Tensor& t : made) out.push(&t.spec());
  profile_op({kind, c.op.name, c.options.name, c.options.where, {in.begin(), in.size()}, {out.begin(), out.size()}},
             start);
  return made;
}

// Adds the source location of a call, as far as it is known (operators only have the scope). The first location is
// kept.
[[gnu::cold, gnu::noinline]] TANDEM_INLINE void complete_error(errors::OpError& e, const OpDef& op,
                                                               const OpOptions& options) {
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
  for (Observer* o = context.observers; o; o = o->next) o->record(a);
}

// Once the specs are known: runs or records the op and notifies the tapes.
inline Tensors apply_inferred(const InferCall& c, const Specs& specs) {
  Tensors out = context.stager   ? context.stager->stage(c, specs)
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

// Fast path: eager, a plain kernel, one output, fewer than 8 inputs, all with data on the host. The inputs are
// converted to the kernel's operands immediately and not read again.
inline constexpr std::size_t few = 8;
[[gnu::always_inline]] inline bool is_plain(const OpDef& op, Inputs in, Operand* operands) {
  if (context.stager || !op.cpu || op.rare.host_kernel || op.rare.resolve || op.workspace || op.flags.alias)
    return false;
  if (is_profiling() || op.outputs != 1 || in.size() >= few) return false;
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
  c.op.cpu({{operands, inputs}, {operands + inputs, 1}, c.attrs, nullptr, c.op.name, nullptr});
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

}  // namespace detail

TANDEM_INLINE Tensors apply(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options) {
  return detail::named(op, options, [&] { return detail::apply_any({op, in, attrs, options}); });
}
TANDEM_INLINE Tensor apply_one(const OpDef& op, Inputs in, const Attrs& attrs, const OpOptions& options) {
  Operand operands[detail::few];
  if (!detail::is_plain(op, in, operands)) [[unlikely]]
    return std::move(apply(op, in, attrs, options)[0]);
  const auto run = [&]() __attribute__((always_inline)) {
    return detail::apply_plain({op, in, attrs, options}, operands);
  };
  return detail::named(op, options, run);
}

TANDEM_INLINE Tensor apply_over(const OpDef& op, Inputs in, Tensor* first, Tensor* second) {
  Operand operands[detail::few];
  if (context.observers || !detail::is_plain(op, in, operands)) return apply_one(op, in, no_attrs, no_options);
  const auto run = [&]() __attribute__((always_inline)) {
    const InferCall c{op, in, no_attrs, no_options};
    if (!detail::has_kernel_dtype(c)) [[unlikely]]
      return std::move(detail::apply_widened(c)[0]);
    const Specs specs = op.infer(c);
    const auto fits = [&](Tensor* t) { return t && t->is_unique() && t->known_spec() == specs[0]; };
    Tensor* const taken = fits(first) ? first : fits(second) ? second : nullptr;
    if (!taken) return detail::run_plain(c, specs[0], operands);
    operands[in.size()] = {taken->raw(), &taken->known_spec()};
    op.cpu({{operands, in.size()}, {operands + in.size(), 1}, no_attrs, nullptr, op.name, nullptr});
    taken->renew_id();
    return std::move(*taken);
  };
  return detail::named(op, no_options, run);
}

TANDEM_INLINE std::string detail::scope_path(const std::string& name) {
  std::string path = scoped_name(name);
  return context.stager ? context.stager->scope(std::move(path)) : path;
}
TANDEM_INLINE Specs checked_specs(const OpDef& op, Inputs in, const Attrs& attrs) {
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
  if (!together) detail::raise_specs(call, "the inputs are on different devices");
  return op.infer(call);
}

namespace detail {

// Runs the kernel on operands whose device is known. The caller has handled aliases and data-dependent dimensions.
[[gnu::always_inline]] inline Tensors run_kernel(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                                                 std::span<const Tensor> reuse, Operand* operands) {
  std::size_t n = 0;
  for (const Tensor* t : in) {
    if (!t->raw() && !names_input(op.shape_inputs, n)) [[unlikely]]
      check_value(op.name, *t);
    operands[n++] = {t->raw(), &t->known_spec()};
  }
  Tensors out;
  const bool reuses = !reuse.empty();
  for (const Spec& s : specs) {
    const std::size_t i = out.size();
    if (reuses && reuse[i].is_set()) out.push(reuse[i]);
    else out.push(Tensor::allocate(s));
    operands[n++] = {out[i].raw(), &out[i].known_spec()};
  }
  KernelCall call{{operands, in.size()}, {operands + in.size(), specs.size()}, attrs, nullptr, op.name, nullptr};
  const Device::Kind kind = specs.empty() ? (in.empty() ? Device::cpu : in[0]->device().kind) : specs[0].device.kind;
  if (kind != Device::cpu || op.workspace) [[unlikely]] {
    launch(op, call, call.in);
    return out;
  }
  if (!op.cpu) [[unlikely]]
    errors::raise<errors::UnimplementedError>(op.name, "no kernel on CPU:0");
  op.cpu(call);
  return out;
}
[[gnu::noinline]] TANDEM_INLINE Tensors run_many(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                                                 std::span<const Tensor> reuse) {
  InlinedVector<Operand, 8> operands;
  operands.reserve(static_cast<unsigned>(in.size()) + specs.size());
  return run_kernel(op, in, attrs, specs, reuse, operands.data());
}
[[gnu::noinline]] TANDEM_INLINE Specs resolved_specs(const OpDef& op, Inputs in, const Attrs& attrs) {
  InlinedVector<Operand, 8> operands;
  for (const Tensor* t : in) operands.push(Operand{t->raw(), &t->spec()});
  return resolve(op, {{}, {}, attrs, nullptr, op.name, nullptr}, in, {operands.begin(), in.size()});
}

}  // namespace detail

TANDEM_INLINE Tensors run(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                          std::span<const Tensor> reuse) {
  if (op.flags.alias) return detail::run_alias(op, in, attrs, specs);
  if (op.rare.host_kernel) [[unlikely]]
    return op.rare.host_kernel(in, attrs);
  if (op.rare.resolve) [[unlikely]]
    return detail::run_many(op, in, attrs, detail::resolved_specs(op, in, attrs), reuse);
  if (in.size() + specs.size() > detail::few) [[unlikely]]
    return detail::run_many(op, in, attrs, specs, reuse);
  Operand operands[detail::few];
  return detail::run_kernel(op, in, attrs, specs, reuse, operands);
}

}  // namespace TANDEM_NS
