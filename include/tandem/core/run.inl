// Running one op on tensors: outputs, scratch, devices, data-dependent sizes. Definitions of run() in core/apply.hpp.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/invoke.hpp"
#include "tandem/core/profile.hpp"

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
      out.push_back(Tensor::symbol(specs[i]));
      continue;
    }
    if (i == 0 || in.size() > 1) at = op.rare.offset ? op.rare.offset(x.spec(), attrs) : 0;
    out.push_back(Tensor::view_of(x, specs[i], at));
    at += specs[i].bytes();
  }
  return out;
}
[[gnu::noinline]] TANDEM_INLINE void launch(const OpDef& op, KernelCall& call, Span<const Operand> in) {
  const Device device = !call.out.empty() ? call.out[0].spec->device : in.empty() ? Device{} : in[0].spec->device;
  std::size_t bytes = 0;
  if (op.workspace && (device.kind == Device::cpu || backend_of(device).uses_workspace)) {
    InlinedVector<Spec, 4> specs;
    for (const Operand& o : in) specs.push_back(*o.spec);
    bytes = op.workspace({specs.begin(), specs.size()}, call.attrs);
  }
  if (device.kind == Device::cpu) {
    const memory::Scratch scratch(bytes);
    call.workspace = scratch.data();
    return invoke(op, call, Stream{device});
  }
  const Backend& b = backend_of(device);
  call.workspace = bytes ? b.allocate(bytes, device.index) : nullptr;
  try {
    invoke(op, call, Stream{device});
  } catch (...) {
    if (call.workspace) b.release(call.workspace, bytes, device.index);
    throw;
  }
  if (call.workspace) b.release(call.workspace, bytes, device.index);
}

[[gnu::noinline]] TANDEM_INLINE void check_resolved(const OpDef& op, const Specs& resolved, Span<const Spec> given) {
  for (std::size_t i = 0; i < resolved.size() && i < given.size(); ++i)
    if (!given[i].shape.is_compatible_with(resolved[i].shape))
      errors::raise<errors::InvalidArgumentError>(op.name, "the result has the shape " + to_string(resolved[i].shape) +
                                                               ", but its known sizes are given as " +
                                                               to_string(given[i].shape));
}

// Computes the output specs that depend on data. The data is read on the host: that of the host_inputs, or of all
// inputs if the call has none of them. A collective has no other data that its sizes depend on.
[[gnu::noinline]] TANDEM_INLINE Specs resolve(const OpDef& op, KernelCall call, Inputs in, Span<Operand> operands) {
  Tensors fetched;
  InlinedVector<Operand, 8> host;
  const bool reads_host = op.flags.collective || has_host_inputs(op, in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    host.push_back(operands[i]);
    if (!in[i]->raw() && !names_input(op.shape_inputs, i)) check_value(op.name, *in[i]);
    if (reads_host || !in[i]->raw() || in[i]->device().kind == Device::cpu) continue;
    const Tensor& t = fetched.push_back(Tensor::allocate({in[i]->shape(), in[i]->dtype(), {}}));
    copy_bytes(t.raw(), {}, in[i]->raw(), in[i]->device(), t.spec().bytes());
    host[i].data = t.raw();
  }
  call.in = {host.begin(), in.size()};
  return op.rare.resolve(call);
}

[[gnu::cold, gnu::noinline]] TANDEM_INLINE Tensors run_timed(const char* kind, const InferCall& c, const Specs& specs,
                                                             Span<const Tensor> reuse) {
  InlinedVector<Spec, 8> held;  // an in-place op's inputs are gone after it has run
  InlinedVector<const Spec*, 8> in, out;
  for (const Tensor* t : c.in) held.push_back(t->spec());
  for (const Spec& s : held) in.push_back(&s);
  const i64 start = profile_now();
  Tensors made = run(c.op, c.in, c.attrs, specs, reuse);
  for (const Tensor& t : made) out.push_back(&t.spec());
  profile_op({kind, c.op.name, c.options.name, c.options.where, {in.begin(), in.size()}, {out.begin(), out.size()}},
             start);
  return made;
}

// Runs the kernel on operands whose device is known. The caller has handled aliases and data-dependent dimensions.
[[gnu::always_inline]] inline Tensors run_kernel(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                                                 Span<const Tensor> reuse, Operand* operands) {
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
    if (reuses && reuse[i].is_set()) out.push_back(reuse[i]);
    else out.push_back(Tensor::allocate(s));
    operands[n++] = {out[i].raw(), &out[i].known_spec()};
  }
  KernelCall call = kernel_call(op, operands, in.size(), specs.size(), attrs);
  if (op.flags.keeps_packed) call.packed = in[1]->packed_forms();
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
                                                 Span<const Tensor> reuse) {
  InlinedVector<Operand, 8> operands;
  operands.reserve(static_cast<unsigned>(in.size()) + specs.size());
  return run_kernel(op, in, attrs, specs, reuse, operands.data());
}
[[gnu::noinline]] TANDEM_INLINE Specs resolved_specs(const OpDef& op, Inputs in, const Attrs& attrs,
                                                     const Specs& given) {
  InlinedVector<Operand, 8> operands;
  for (const Tensor* t : in) operands.push_back(Operand{t->raw(), &t->spec()});
  Specs specs = resolve(op, kernel_call(op, nullptr, 0, 0, attrs), in, {operands.begin(), in.size()});
  check_resolved(op, specs, {given.begin(), given.size()});
  return specs;
}

}  // namespace detail

TANDEM_INLINE Tensors run(const OpDef& op, Inputs in, const Attrs& attrs, const Specs& specs,
                          Span<const Tensor> reuse) {
  if (op.flags.alias) return detail::run_alias(op, in, attrs, specs);
  if (op.rare.host_kernel) [[unlikely]]
    return op.rare.host_kernel(in, attrs);
  if (op.rare.resolve) [[unlikely]]
    return detail::run_many(op, in, attrs, detail::resolved_specs(op, in, attrs, specs), reuse);
  if (in.size() + specs.size() > few_operands) [[unlikely]]
    return detail::run_many(op, in, attrs, specs, reuse);
  Operand operands[few_operands];
  return detail::run_kernel(op, in, attrs, specs, reuse, operands);
}

}  // namespace TANDEM_NS
