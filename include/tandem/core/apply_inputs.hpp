// Checks and conversions of an op's inputs before its shape rule runs: devices, dtypes without a kernel.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/devices.hpp"

namespace TANDEM_NS::detail {

// The first input that is not required to be on the host: it determines the device of the others.
inline std::size_t placed_input(const OpDef& op, std::size_t inputs) {
  const auto first = static_cast<std::size_t>(__builtin_ctz(~static_cast<std::uint32_t>(op.host_inputs)));
  return first < inputs ? first : 0;
}
// Under DevicePolicy::explicit_only: raises if an input would have to be copied to another device.
[[gnu::cold, gnu::noinline]] inline void check_explicit(const OpDef& op, Inputs in, Device to) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Device wanted = lives_on_host(op, i, in.size()) ? Device{} : to, is = in[i]->device();
    if (is == wanted || (in[i]->rank() == 0 && is.kind == Device::cpu)) continue;
    errors::raise<errors::InvalidArgumentError>(
        op.name, input_name(op, i) + ", " + to_string(in[i]->spec()) + ", is on " + to_string(is) +
                     " and would be copied to " + to_string(wanted) +
                     ", which the device policy forbids; copy it: x.to(\"" + to_string(wanted) + "\")");
  }
}
// The input where the op's kernel on a device wants it. Of a shape alone there is nothing to copy.
inline Tensor placed(const OpDef& op, Inputs in, std::size_t i, Device to) {
  const Tensor& t = *in[i];
  if (lives_on_host(op, i, in.size())) return t.cpu();
  const bool is_shape = names_input(op.shape_inputs, i) && t.is_symbolic() && !context.stager;
  return is_shape ? Tensor::symbol({t.shape(), t.dtype(), to}) : t.to(to);
}
// For inputs on different devices: the first input of rank > 0 determines the device, and the others are copied
// there.
[[gnu::cold, gnu::noinline]] inline Tensors apply_across(const OpDef& op, Inputs in, const Attrs& attrs,
                                                         const OpOptions& options) {
  Device to = in[placed_input(op, in.size())]->device();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i]->rank() > 0 && !lives_on_host(op, i, in.size())) {
      to = in[i]->device();
      break;
    }
  if (config::device_policy() == config::DevicePolicy::explicit_only) check_explicit(op, in, to);
  Tensors moved;
  InlinedVector<const Tensor*, 4> pointers;
  for (std::size_t i = 0; i < in.size(); ++i) moved.push_back(placed(op, in, i, to));
  for (const Tensor& t : moved) pointers.push_back(&t);
  return apply(op, {pointers.begin(), pointers.size()}, attrs, options);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void raise_dtype(const InferCall& c, DType d, Device device) {
  std::string inputs;
  bool differ = false;  // then it must be said whose dtype is wrong
  for (const Tensor* t : c.in) {
    inputs += (inputs.empty() ? "" : " x ") + to_string(t->spec());
    differ |= t->spec().dtype != d;
  }
  if (differ) inputs = named_inputs(c);
  const DTypes castable = dtypes::real | dtypes::half_floating | dtypes::boolean;
  const DType to = c.op.dtypes.has(DType::float32) ? DType::float32 : DType::int64;
  const bool can_cast = castable.has(d) && c.op.dtypes.has(to) && d != to;
  errors::raise<errors::UnimplementedError>(
      c.op.name, std::string("no kernel for ") + name(d) + " on " + to_string(device) + ": " + inputs +
                     (can_cast ? " (cast(" + input_name(c.op, static_cast<std::size_t>(c.op.dtype_input)) + ", " +
                                     name(to) + ") is supported)"
                               : ""));
}
[[gnu::cold, gnu::noinline]] inline bool on_one_device(const InferCall& c) {
  const Device device = c.spec(placed_input(c.op, c.in.size())).device;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (lives_on_host(c.op, i, c.in.size()) ? c.spec(i).device.kind != Device::cpu : c.spec(i).device != device)
      return false;
  return true;
}
[[noreturn, gnu::cold, gnu::noinline]] inline void raise_unset(const InferCall& c, std::size_t i) {
  errors::raise<errors::FailedPreconditionError>(c.op.name, input_name(c.op, i) + ": " + c.in[i]->unset_reason());
}
// True if all inputs are on one device; raises for unset inputs.
inline bool check_inputs(const InferCall& c) {
  bool elsewhere = false;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (!c.in[i]->is_set()) raise_unset(c, i);
    elsewhere |= c.spec(i).device != Device{};
  }
  return !elsewhere || c.op.rare.host_kernel || on_one_device(c);  // control flow may take inputs from several devices
}
// For an op computed in float32 instead of half precision: checks that all its floating inputs have the half dtype,
// those that stay wide float32.
[[gnu::cold, gnu::noinline]] inline void check_widens(const InferCall& c, const Spec& s) {
  if (!dtypes::half_floating.has(s.dtype) || !c.op.dtypes.has(DType::float32) || c.op.flags.own_width)
    raise_dtype(c, s.dtype, s.device);
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (const bool wide = names_input(c.op.rare.wide_inputs, i); wide && c.spec(i).dtype != DType::float32)
      raise_specs(c, input_name(c.op, i) + " must be float32");
    else if (!wide && is_floating(c.spec(i).dtype) && c.spec(i).dtype != s.dtype && !names_input(c.op.shape_inputs, i))
      raise_specs(c, std::string(name(s.dtype)) + " and " + name(c.spec(i).dtype) + " cannot be mixed",
                  cast_hint(c, static_cast<std::size_t>(c.op.dtype_input), i));
}
// Whether half precision is passed to the kernel as it is, for a dtype that the op does not list.
[[gnu::noinline]] inline bool takes_half(const InferCall& c, const Spec& s) {
  const bool kernel = s.device.kind == Device::gpu ? c.op.flags.cuda_takes_half : c.op.flags.takes_half;
  if (!kernel || !dtypes::half_floating.has(s.dtype)) return false;
  check_widens(c, s);
  return true;
}
[[gnu::always_inline]] inline bool has_kernel_dtype(const InferCall& c) {
  const auto typed = static_cast<std::size_t>(c.op.dtype_input);  // -1 (none) exceeds every input index
  return typed >= c.in.size() || c.op.dtypes.has(c.spec(typed).dtype) || takes_half(c, c.spec(typed));
}
[[gnu::cold, gnu::noinline]] inline Tensors apply_widened(const InferCall& c) {
  const Spec& s = c.spec(static_cast<std::size_t>(c.op.dtype_input));
  const DType narrow = s.dtype;
  check_widens(c, s);
  Tensors wide;
  InlinedVector<const Tensor*, 4> pointers;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const bool whole = c.spec(i).dtype != narrow || names_input(c.op.shape_inputs, i);
    wide.push_back(whole ? *c.in[i] : tandem::cast(*c.in[i], DType::float32, no_options));
  }
  for (const Tensor& t : wide) pointers.push_back(&t);
  Tensors out = apply(c.op, {pointers.begin(), pointers.size()}, c.attrs, c.options);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].dtype() == DType::float32 && !names_input(c.op.rare.wide_outputs, i))
      out[i] = tandem::cast(out[i], narrow, no_options);
  return out;
}

}  // namespace TANDEM_NS::detail
