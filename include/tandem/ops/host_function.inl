// Definitions of ops/host_function.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/host_function.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE void raise_host_inputs(int takes, std::size_t given) {
  errors::raise<errors::InvalidArgumentError>(
      "host_function", "the function takes " + std::to_string(takes) + " tensors, not " + std::to_string(given));
}

TANDEM_INLINE Specs infer_host_function(const InferCall& c) {
  Specs specs;
  for (const Spec& s : c.get<HostFunctionAttrs>().code->results)
    specs.push_back(Spec{s.shape, s.dtype, c.in.empty() ? Device{} : c.spec(0).device});
  return specs;
}
TANDEM_INLINE void check_host_results(const std::vector<Tensor>& got, const std::vector<Spec>& want) {
  if (got.size() != want.size())
    errors::raise<errors::InvalidArgumentError>("host_function", "the function returned " + std::to_string(got.size()) +
                                                                     " tensors, its specs are " +
                                                                     std::to_string(want.size()));
  for (const Tensor& t : got) check_value("host_function", t);  // not one that f has captured from a trace
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i].dtype() != want[i].dtype || !want[i].shape.is_compatible_with(got[i].shape()))
      errors::raise<errors::InvalidArgumentError>("host_function", "the function returned " + to_string(got[i].spec()) +
                                                                       " as result " + std::to_string(i) +
                                                                       ", whose spec is " + to_string(want[i]));
}
TANDEM_INLINE Tensors run_host_function(Inputs in, const Attrs& attrs) {
  const OutsideTrace outside;
  const HostCode& code = *attrs.get<HostFunctionAttrs>().code;
  std::vector<Tensor> host;
  for (const Tensor* t : in) host.push_back(t->cpu());
  const std::vector<Tensor> got = code.call(host);
  check_host_results(got, code.results);
  Tensors out;
  for (const Tensor& t : got) out.push_back(in.empty() ? t.cpu() : t.to(in[0]->device()));
  return out;
}

TANDEM_INLINE std::vector<Tensor> apply_host_function(const std::vector<Tensor>& in, Ref<HostCode> code,
                                                      const HostFunctionOptions& o) {
  InlinedVector<const Tensor*, 4> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  const Tensors out = apply(o.stateful ? host_function_op : pure_host_function_op, {pointers.begin(), pointers.size()},
                            HostFunctionAttrs{std::move(code)}, {o.name, o.where});
  return {out.begin(), out.end()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef host_function_op{.name = "host_function",
                                               .input_names = "inputs...",
                                               .infer = &detail::infer_host_function,
                                               .dtype_input = -1,
                                               .inputs = at_least(0),
                                               .outputs = -1,
                                               .saves = Saves::nothing,
                                               .flags = {.stateful = true},
                                               .attrs = &detail::attr_type<detail::HostFunctionAttrs>,
                                               .rare = {.host_kernel = &detail::run_host_function}};
TANDEM_INLINE constexpr OpDef pure_host_function_op{
    .name = "pure_host_function",
    .input_names = "inputs...",
    .infer = &detail::infer_host_function,
    .dtype_input = -1,
    .inputs = at_least(0),
    .outputs = -1,
    .saves = Saves::nothing,
    .attrs = &detail::attr_type<detail::HostFunctionAttrs>,
    .rare = {.host_kernel = &detail::run_host_function, .in_errors = "host_function"}};

}  // namespace TANDEM_NS
