// Definitions of ops/transfer.hpp.
#pragma once
#include "tandem/base/logical_cpus.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_transfer(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].device = c.get<rules::TransferAttrs>().to;
  if (r[0].dtype == DType::string)
    errors::raise<errors::InvalidArgumentError>(
        "to", "strings exist only in host memory: " + to_string(r[0]) + " to " + to_string(r[0].device));
  if (r[0].device.kind != Device::cpu) (void)backend_of(r[0].device);
  else check_logical_cpu(r[0].device);
  return r;
}
TANDEM_INLINE void transfer_kernel(const KernelCall& c) {
  const Spec &from = *c.in[0].spec, &to = *c.out[0].spec;
  copy_bytes(c.out[0].data, to.device, c.in[0].data, from.device, to.bytes());
}
TANDEM_INLINE Grads transfer_gradient(const GradCall& c) { return Grads(Gradient(c.g[0].to(c.in[0].device()))); }

}  // namespace detail

TANDEM_INLINE constexpr OpDef transfer_op{.name = "transfer",
                                          .infer = &detail::infer_transfer,
                                          .cpu = &detail::transfer_kernel,
                                          .cuda = &detail::transfer_kernel,
                                          .gradient = &detail::transfer_gradient,
                                          .saves = Saves::shape,
                                          .attrs = &detail::attr_type<rules::TransferAttrs>};

TANDEM_INLINE Tensor Tensor::to(Device device) const {
  if (spec().device == device) return *this;
  return apply1(transfer_op, rules::TransferAttrs{device}, no_options, *this);
}
TANDEM_INLINE Tensor detail::to_current_device(const Tensor& t) {
  const Device here = current_device();
  if (here == t.device() || t.dtype() == DType::string) return t;
  const OutsideTrace outside;  // a trace captures the copy
  return t.to(here);
}

}  // namespace TANDEM_NS
