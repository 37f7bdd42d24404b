// Definitions of ops/debug/check_numerics.hpp: the search for elements that are not finite, the op, the observer.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tandem/core/print.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/debug/check_numerics.hpp"
#include "tandem/ops/debug/raise_assert.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {

namespace debugging::impl {

struct NonFinite {
  i64 first = -1;  // its flat index; -1: there is none
  i64 count = 0;
};

// A floating number is not finite if all bits of its exponent are set.
template <class Bits>
NonFinite find_bits(const void* data, i64 n, Bits exponent) {
  const auto* const x = static_cast<const Bits*>(data);
  constexpr i64 block = 1024;
  NonFinite found;
  for (i64 begin = 0; begin < n; begin += block) {
    const i64 end = std::min(n, begin + block);
    i64 here = 0;  // a loop without exits, which the compiler vectorizes
    for (i64 i = begin; i < end; ++i) here += (x[i] & exponent) == exponent;
    if (here && !found.count)
      found.first = std::find_if(x + begin, x + end, [&](Bits b) { return (b & exponent) == exponent; }) - x;
    found.count += here;
  }
  return found;
}
TANDEM_INLINE NonFinite find_non_finite(const Operand& x) {
  const i64 n = x.size() * (is_complex(x.spec->dtype) ? 2 : 1);
  NonFinite found;
  switch (x.spec->dtype) {
    case DType::float16: return find_bits<std::uint16_t>(x.data, n, 0x7c00);
    case DType::bfloat16: return find_bits<std::uint16_t>(x.data, n, 0x7f80);
    case DType::float32:
    case DType::complex64: found = find_bits<std::uint32_t>(x.data, n, 0x7f800000); break;
    default: found = find_bits<std::uint64_t>(x.data, n, 0x7ff0000000000000);
  }
  if (is_complex(x.spec->dtype) && found.count) found.first /= 2;
  return found;
}
// "-inf at [1], the first of 2 numbers that are not finite, in float32[4]"
TANDEM_INLINE std::string non_finite_text(const Operand& x, const NonFinite& found) {
  std::string s = element_to_string(x, found.first);
  if (x.shape().rank()) s += " at " + index_to_string(x.shape(), found.first);
  if (found.count > 1) s += ", the first of " + std::to_string(found.count) + " numbers that are not finite,";
  return s + " in " + to_string(*x.spec);
}
inline bool has_finite_dtype(DType d) { return is_floating(d) || is_complex(d); }

TANDEM_INLINE Specs infer_check_numerics(const InferCall& c) { return Specs(c.spec(0)); }
TANDEM_INLINE void check_numerics_kernel(const KernelCall& c) {
  if (const NonFinite found = find_non_finite(c.in[0]); found.count)
    raise_assert(c.op, c.attrs.get<rules::CheckNumericsAttrs>().message, non_finite_text(c.in[0], found));
  const std::size_t bytes = c.in[0].spec->bytes();
  if (c.out[0].data != c.in[0].data && bytes) std::memcpy(c.out[0].data, c.in[0].data, bytes);
}
TANDEM_INLINE Grads gradient_check_numerics(const GradCall& c) {
  return Grads(Gradient(check_numerics(c.g[0], c.get<rules::CheckNumericsAttrs>().message + " (gradient)")));
}
// The number of elements is not asked for on a device unless there is one to report.
TANDEM_INLINE bool is_finite_on_device(const Tensor& x) {
  const detail::Unobserved quiet;
  const detail::ShapeChecks lenient(false);
  return reduce_all(is_finite(x)).template item<bool>();
}

// The result for a tensor that is_finite_on_device: no kernel runs, but tapes record the op, whose gradient is checked.
TANDEM_INLINE Tensor checked_on_device(const Tensor& x, std::string message, const OpOptions& options) {
  Tensor y = [&] {
    const tandem::detail::Unobserved quiet;
    return identity(x, options);
  }();
  const Tensor* const in[] = {&x};
  const Attrs attrs = rules::CheckNumericsAttrs{std::move(message)};
  for (Observer* o = context.observers; o; o = o->next) o->record({check_numerics_op, in, attrs, {&y, 1}, &options});
  return y;
}

// Checks the results of each op of its thread.
class NumericsTrap final : public Observer {
 public:
  NumericsTrap() { every_op = true; }
  ~NumericsTrap() {
    if (active) detail::unobserve(*this);
  }
  bool active = false;

  void record(const Applied& a) override {
    if (a.op.flags.alias && a.in.size() == 1) return;  // a view of what has been checked, unlike a custom gradient's
    for (std::size_t i = 0; i < a.out.size(); ++i)
      if (a.out[i].has_data() && has_finite_dtype(a.out[i].dtype())) check(a, i);
  }
  void read(const Variable&, const Tensor&) override {}
  void dropped() override { active = false; }

 private:
  static void check(const Applied& a, std::size_t i) {
    const Tensor& y = a.out[i];
    const bool on_host = y.device().kind == Device::cpu;
    if (!on_host && !is_complex(y.dtype()) && is_finite_on_device(y)) return;
    const detail::Unobserved quiet;  // the copy is an op too
    const Tensor host = on_host ? y : y.cpu();
    const NonFinite found = find_non_finite({host.raw(), &host.spec()});
    if (!found.count) return;
    std::string s = "the result of " + display_name(a.op) + (a.out.size() > 1 ? " " + std::to_string(i) : "") +
                    " has " + non_finite_text({host.raw(), &host.spec()}, found) + ";";
    for (std::size_t k = 0; k < a.in.size(); ++k) s += (k ? " x " : " its operands: ") + to_string(a.in[k]->spec());
    errors::raise<errors::InvalidArgumentError>(a.op.name, s + " (enable_check_numerics)");
  }
};
TANDEM_INLINE NumericsTrap& numerics_trap() {
  static thread_local NumericsTrap trap;
  return trap;
}

}  // namespace debugging::impl

TANDEM_INLINE void debugging::enable_check_numerics() {
  impl::NumericsTrap& trap = impl::numerics_trap();
  if (trap.active) return;
  if (context.stager)
    errors::raise<errors::FailedPreconditionError>(
        "enable_check_numerics", "cannot be enabled while a function is traced: enable it around the calls");
  detail::observe(trap);
  trap.active = true;
}
TANDEM_INLINE bool debugging::impl::end_check_numerics() noexcept {
  return !numerics_trap().active || tandem::detail::unobserve(numerics_trap());
}
TANDEM_INLINE void debugging::disable_check_numerics() {
  if (!impl::end_check_numerics())
    errors::raise<errors::FailedPreconditionError>(
        "disable_check_numerics",
        "cannot be disabled in a traced function or where ops are not recorded, such as in a custom gradient: "
        "disable it where it was enabled");
}
TANDEM_INLINE bool debugging::is_check_numerics_enabled() { return impl::numerics_trap().active; }

TANDEM_INLINE Tensor debugging::check_numerics(const Tensor& x, std::string message, CheckNumericsOptions o) {
  const OpOptions options{o.name, o.where};
  if (x.has_data() && x.device().kind != Device::cpu && is_floating(x.dtype()) && !context.stager) {
    if (impl::is_finite_on_device(x)) return impl::checked_on_device(x, std::move(message), options);
    return apply1(check_numerics_op, rules::CheckNumericsAttrs{std::move(message)}, options, x.cpu());
  }
  return apply1(check_numerics_op, rules::CheckNumericsAttrs{std::move(message)}, options, x);
}

TANDEM_INLINE constexpr OpDef check_numerics_op{
    .name = "check_numerics",
    .infer = &debugging::impl::infer_check_numerics,
    .cpu = &debugging::impl::check_numerics_kernel,
    .cuda = TANDEM_CUDA(&cuda::check_numerics),
    .gradient = &debugging::impl::gradient_check_numerics,
    .dtypes = dtypes::floating | dtypes::half_floating | dtypes::complex | DType::complex128,
    .saves = Saves::nothing,
    .flags = {.stateful = true, .in_place = true, .own_width = true},
    .attrs = &detail::attr_type<rules::CheckNumericsAttrs>};

}  // namespace TANDEM_NS
