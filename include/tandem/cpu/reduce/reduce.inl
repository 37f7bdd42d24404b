// CPU kernels of the reduce_* ops: one or two folds and a finish.
#pragma once
#include <bit>
#include <complex>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/reduce/engine.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

struct ReduceCall {
  const Operand &x, &y;
  std::uint32_t mask;
  const char* op;

  explicit ReduceCall(const KernelCall& c)
      : x(c.in[0]), y(c.out[0]), mask(c.attrs.get<ReduceAttrs>().axis.mask(c.op, c.in[0].shape().rank())), op(c.op) {}
  DType dtype() const { return x.spec->dtype; }
  i64 parts() const { return dtype() == DType::complex64 ? 2 : 1; }
  /// The number of elements folded into one output.
  i64 length() const {
    i64 n = 1;
    for (int d = 0; d < x.shape().rank(); ++d)
      if (mask >> d & 1u) n *= x.shape().dim(d);
    return n;
  }
  template <Fold F>
  void run(const void* param, void* out) const {
    fold(fold_kernel_of<F>(dtype(), op), x.data, x.shape(), mask, param, out, parts());
  }
  template <Fold F>
  void to_output() const {
    run<F>(nullptr, y.data);
  }
};

using FinishFn = void (*)(void* out, const void* param, double number, i64 n);
template <Finish F>
void finish(const ReduceCall& r, const void* param, double number) {
  constexpr FinishFn single[] = TANDEM_EACH_ISA(finish_row<F, float>);
  constexpr FinishFn whole[] = TANDEM_EACH_ISA_IF_COMPILED(finish_row<F, double>);
  (r.dtype() == DType::float64 ? whole : single)[isa()](r.y.data, param, number, r.y.size() * r.parts());
}

// The step of a plain fold on n adjacent elements: all are combined into out[0] if `folded`, otherwise each into its
// own output.
using JoinRow = void (*)(void* out, const void* x, i64 n, bool folded);
TANDEM_INLINE void join_rows(const ReduceCall& r, char* out, i64 out_width, JoinRow join) {
  if (r.x.size() == 0) return;
  const ReducePlan p = plan_reduce(r.x.shape(), r.mask);
  const i64 width = p.inner_folded ? 1 : p.inner, outer = r.y.size() / (width ? width : 1), rows = p.folded.count();
  const i64 in_width = static_cast<i64>(size_of(r.dtype()));
  parallel_for(outer, fold_grain / (rows * p.inner) + 1, [&](i64 begin, i64 end) {
    for (i64 o = begin; o < end; ++o)
      for (i64 row = 0; row < rows; ++row) {
        const char* const x = r.x.as<const char>() + (p.kept.offset(o) + p.folded.offset(row)) * in_width;
        join(out + o * width * out_width, x, p.inner, p.inner_folded);
      }
  });
}
/// out[o] = Join(... Join(start, x0) ..., xn) one by one, for folds without a pack implementation.
template <class Join, class T, class A>
void join_row(void* out, const void* x, i64 n, bool folded) {
  A* const to = static_cast<A*>(out);
  const T* const from = static_cast<const T*>(x);
  if (folded)
    for (i64 i = 0; i < n; ++i) *to = Join()(*to, from[i]);
  else
    for (i64 i = 0; i < n; ++i) to[i] = Join()(to[i], from[i]);
}
template <class T, class A, class Join>
void plain_fold(const ReduceCall& r, A* out, A start, Join) {
  for (i64 i = 0; i < r.y.size(); ++i) out[i] = start;
  join_rows(r, reinterpret_cast<char*>(out), sizeof(A), &join_row<Join, T, A>);
}

// Summed in 64 bits and truncated toward zero.
template <class T>
void mean_of_integers(const ReduceCall& r, void* workspace) {
  using A = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const i64 n = r.length();
  if (n == 0 && r.y.size())
    errors::raise<errors::InvalidArgumentError>(
        r.op, "the mean of no integers has no value: " + to_string(*r.x.spec) + " (cast to a floating dtype for NaN)");
  A* const sums = static_cast<A*>(workspace);
  plain_fold<T, A>(r, sums, A(0), [](A a, T x) {
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(static_cast<A>(x)));
  });
  for (i64 i = 0; i < r.y.size(); ++i) r.y.as<T>()[i] = static_cast<T>(sums[i] / static_cast<A>(n));
}
template <class T>
void count_of(const ReduceCall& r) {
  plain_fold<T, i64>(r, r.y.as<i64>(), 0, [](i64 n, const T& x) { return n + (x != T() ? 1 : 0); });
}

// The largest element, or 0 if it is not finite: subtracting it cannot introduce a NaN.
template <class T>
void finite_or_zero(void* p, i64 n) {
  T* const m = static_cast<T*>(p);
  for (i64 i = 0; i < n; ++i) m[i] = m[i] - m[i] == T(0) ? m[i] : T(0);
}
// The power of two that brings the largest magnitude near 1, so that squares neither overflow nor underflow.
template <class T>
void scale_of_size(void* p, i64 n) {
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int digits = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
  T* const m = static_cast<T*>(p);
  for (i64 i = 0; i < n; ++i) {
    const int e = static_cast<int>(std::bit_cast<U>(m[i]) >> digits);  // no sign: m is a magnitude
    const int inverse = 2 * bias - e > 2 * bias - 1 ? 2 * bias - 1 : 2 * bias - e < 1 ? 1 : 2 * bias - e;
    m[i] = e > 2 * bias ? T(1) : std::bit_cast<T>(static_cast<U>(inverse) << digits);
  }
}

}  // namespace detail

TANDEM_INLINE void fold(const FoldKernel& k, const void* x, const Shape& shape, std::uint32_t mask, const void* param,
                        void* out, i64 parts) {
  const detail::FoldWalk walk{k, plan_reduce(shape, mask, parts), static_cast<const char*>(x),
                              static_cast<const char*>(param), static_cast<char*>(out)};
  if (shape.size() == 0) {
    i64 outputs = parts;
    for (int d = 0; d < shape.rank(); ++d)
      if (!(mask >> d & 1u)) outputs *= shape.dim(d);
    return k.clear(out, outputs);
  }
  walk.plan.inner_folded ? walk.segments() : walk.columns();
}

TANDEM_INLINE void reduce_sum(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::sum>(); }
TANDEM_INLINE void reduce_max(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::max>(); }
TANDEM_INLINE void reduce_min(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::min>(); }
TANDEM_INLINE void reduce_any(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::any>(); }
TANDEM_INLINE void reduce_all(const KernelCall& c) { detail::ReduceCall(c).to_output<Fold::all>(); }
TANDEM_INLINE void reduce_prod(const KernelCall& c) {
  const detail::ReduceCall r(c);
  if (r.dtype() != DType::complex64) return r.to_output<Fold::prod>();
  using C = std::complex<float>;
  detail::plain_fold<C, C>(r, r.y.as<C>(), C(1), [](C a, C b) { return a * b; });
}
TANDEM_INLINE void reduce_mean(const KernelCall& c) {
  const detail::ReduceCall r(c);
  switch (r.dtype()) {
    case DType::int8: return detail::mean_of_integers<std::int8_t>(r, c.workspace);
    case DType::int16: return detail::mean_of_integers<std::int16_t>(r, c.workspace);
    case DType::int32: return detail::mean_of_integers<std::int32_t>(r, c.workspace);
    case DType::int64: return detail::mean_of_integers<std::int64_t>(r, c.workspace);
    case DType::uint8: return detail::mean_of_integers<std::uint8_t>(r, c.workspace);
    case DType::uint16: return detail::mean_of_integers<std::uint16_t>(r, c.workspace);
    case DType::uint32: return detail::mean_of_integers<std::uint32_t>(r, c.workspace);
    case DType::uint64: return detail::mean_of_integers<std::uint64_t>(r, c.workspace);
    default: break;
  }
  r.to_output<Fold::sum>();
  detail::finish<Finish::divide>(r, nullptr, static_cast<double>(r.length()));
}
TANDEM_INLINE void reduce_logsumexp(const KernelCall& c) {
  const detail::ReduceCall r(c);
  r.run<Fold::max>(nullptr, c.workspace);
  r.dtype() == DType::float64 ? detail::finite_or_zero<double>(c.workspace, r.y.size())
                              : detail::finite_or_zero<float>(c.workspace, r.y.size());
  r.run<Fold::sum_exp>(c.workspace, r.y.data);
  detail::finish<Finish::log_plus>(r, c.workspace, 0);
}
TANDEM_INLINE void reduce_variance(const KernelCall& c) {
  const detail::ReduceCall r(c);
  if (r.y.size() == 0) return;  // there is no workspace in that case
  r.to_output<Fold::sum>();
  detail::finish<Finish::divide>(r, nullptr, static_cast<double>(r.length()));
  std::memcpy(c.workspace, r.y.data, r.y.spec->bytes());
  r.run<Fold::sum_squared_difference>(c.workspace, r.y.data);
  detail::finish<Finish::divide>(r, nullptr, static_cast<double>(r.length()));
}
TANDEM_INLINE void reduce_std(const KernelCall& c) {
  reduce_variance(c);
  detail::finish<Finish::sqrt_over>(detail::ReduceCall(c), nullptr, 0);
}
TANDEM_INLINE void reduce_euclidean_norm(const KernelCall& c) {
  const detail::ReduceCall r(c);
  r.run<Fold::max_abs>(nullptr, c.workspace);
  r.dtype() == DType::float64 ? detail::scale_of_size<double>(c.workspace, r.y.size())
                              : detail::scale_of_size<float>(c.workspace, r.y.size());
  r.run<Fold::sum_squared_scaled>(c.workspace, r.y.data);
  detail::finish<Finish::sqrt_over>(r, c.workspace, 0);
}
TANDEM_INLINE void count_nonzero(const KernelCall& c) {
  const detail::ReduceCall r(c);
  switch (r.dtype()) {
    case DType::float32: return detail::count_of<float>(r);
    case DType::float64: return detail::count_of<double>(r);
    case DType::complex64: return detail::count_of<std::complex<float>>(r);
    case DType::string:
      return detail::plain_fold<Bytes, i64>(r, r.y.as<i64>(), 0,
                                            [](i64 n, const Bytes& s) { return n + (s.view().empty() ? 0 : 1); });
    default: break;
  }
  switch (size_of(r.dtype())) {
    case 1: return detail::count_of<std::uint8_t>(r);
    case 2: return detail::count_of<std::uint16_t>(r);
    case 4: return detail::count_of<std::uint32_t>(r);
    default: return detail::count_of<std::uint64_t>(r);
  }
}

}  // namespace TANDEM_NS::cpu
