// ReduceCall: what the kernels of the reduce_* ops share. For their definitions.
#pragma once
#include <algorithm>

#include "tandem/cpu/pointwise/half_tile.hpp"
#include "tandem/cpu/reduce/engine.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu::detail {

struct ReduceCall {
  const Operand &x, &y;
  std::uint32_t mask;
  const char* op;

  explicit ReduceCall(const KernelCall& c)
      : x(c.in[0]),
        y(c.out[0]),
        mask(c.attrs.get<rules::ReduceAttrs>().axis.mask(c.op, c.in[0].shape().rank())),
        op(c.op) {}
  DType dtype() const { return x.spec->dtype; }
  i64 parts() const { return is_complex(dtype()) ? 2 : 1; }
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

/// Calls f(c), with a float32 result that is rounded afterwards where c's is half precision.
template <class F>
void with_wide_result(const KernelCall& c, const F& f) {
  if constexpr (kernels_take_half) {
    if (dtypes::half_floating.has(c.out[0].spec->dtype)) {
      const i64 n = c.out[0].size();
      HalfTile tile(c.out[0].spec->dtype, n);
      Spec spec = *c.out[0].spec;
      spec.dtype = DType::float32;
      const Operand wide{tile.room(n), &spec};
      KernelCall call = c;
      call.out = {&wide, 1};
      f(call);
      return tile.round(wide.as<float>(), c.out[0].data, n, 1, n);
    }
  }
  f(c);
}

using FinishFn = void (*)(void* out, const void* param, double number, i64 n);
template <Finish F>
void finish(const ReduceCall& r, const void* param, double number) {
  static constexpr ByIsa<FinishFn> single{TANDEM_EACH_ISA(finish_row<F, float>)};
  static constexpr ByIsa<FinishFn> whole{TANDEM_EACH_ISA_IF_COMPILED(finish_row<F, double>)};
  (r.dtype() == DType::float64 || r.dtype() == DType::complex128 ? whole : single)
      .get()(r.y.data, param, number, r.y.size() * r.parts());
}

// The step of a plain fold on n adjacent elements: all are combined into out[0] if `folded`, otherwise each into its
// own output.
using JoinRow = void (*)(void* out, const void* x, i64 n, bool folded);
inline void join_rows(const ReduceCall& r, char* out, i64 out_width, JoinRow join) {
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

}  // namespace TANDEM_NS::cpu::detail
