// CPU kernels of sum_to_like, broadcast_like and size_of.
#pragma once
#include "tandem/cpu/reduce/call.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

TANDEM_INLINE FoldOnSets sum_of_inexact(DType d) {
  if (kernels_take_half && dtypes::half_floating.has(d)) return fold_of_half<Fold::sum>(d);
  if (d == DType::float32 || d == DType::complex64) return on_sets<Fold::sum, float>();
  return d == DType::float64 || d == DType::complex128 ? on_sets<Fold::sum, double>() : FoldOnSets{};
}

inline void sum_to_shape(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const std::uint32_t lacks = c.attrs.get<rules::LikeAttrs>().axis.mask(c.op, x.shape().rank());
  fold(fold_kernel_of<Fold::sum, &sum_of_inexact>(x.spec->dtype, c.op), x.data, x.shape(),
       broadcast_mask(x.shape(), y.shape(), lacks), nullptr, y.data, is_complex(x.spec->dtype) ? 2 : 1);
}

// Fills `bytes` with copies of the first `unit` bytes, doubling the copied length up to an efficient size.
inline void repeat_bytes(char* to, std::size_t unit, std::size_t bytes) {
  std::size_t block = unit, done = unit;
  while (done < bytes) {
    const std::size_t w = block < bytes - done ? block : bytes - done;
    std::memcpy(to + done, to, w);
    done += w;
    if (block < 8192) block = done;
  }
}

// The plan of a broadcast is that of the sum that reverses it: folded axes repeat. Strides are the large array's.
struct SpreadWalk {
  ReducePlan plan;
  std::size_t width;
  const char* x;
  char* y;

  void block(i64 kept, i64 folded, i64 times) const {
    const std::size_t unit = plan.inner_folded ? width : static_cast<std::size_t>(plan.inner) * width;
    const std::size_t count = static_cast<std::size_t>(plan.inner_folded ? plan.inner : times);
    char* const to = y + static_cast<std::size_t>(plan.kept.offset(kept) + plan.folded.offset(folded)) * width;
    std::memcpy(to, x + static_cast<std::size_t>(kept) * unit, unit);
    repeat_bytes(to, unit, unit * count);
  }
  void operator()() const {
    const i64 kept = plan.kept.count(), folded = plan.folded.count(), last = plan.folded.rank - 1;
    const i64 rows = !plan.inner_folded && last >= 0 ? plan.folded.size[last] : 1;  // next to the inner axis
    if (kept == 1 && (plan.inner_folded || rows == folded)) return whole();
    const i64 units = folded / rows;
    parallel_for(kept * units, 32768 / (plan.inner * rows) + 1, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) block(i / units, i % units * rows, rows);
    });
  }
  // One value or one row, repeated: the repetitions are divided among threads.
  void whole() const {
    const std::size_t unit = plan.inner_folded ? width : static_cast<std::size_t>(plan.inner) * width;
    const i64 n = plan.inner_folded ? plan.inner * plan.folded.count() : plan.folded.count();
    parallel_for(n, 131072 / static_cast<i64>(unit) + 1, [&](i64 begin, i64 end) {
      char* const to = y + static_cast<std::size_t>(begin) * unit;
      std::memcpy(to, x, unit);
      repeat_bytes(to, unit, static_cast<std::size_t>(end - begin) * unit);
    });
  }
};

}  // namespace detail

TANDEM_INLINE void sum_to_like(const KernelCall& c) { detail::with_wide_result(c, &detail::sum_to_shape); }

TANDEM_INLINE void broadcast_like(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.size() == 0) return;
  const std::uint32_t lacks = c.attrs.get<rules::LikeAttrs>().axis.mask(c.op, y.shape().rank());
  const std::uint32_t mask = broadcast_mask(y.shape(), x.shape(), lacks);
  detail::SpreadWalk{plan_reduce(y.shape(), mask), size_of(x.spec->dtype), x.as<const char>(), y.as<char>()}();
}

namespace detail {
template <class T>
void put_number(const Operand& y, i64 n) {
  *y.as<T>() = static_cast<T>(n);
}
}  // namespace detail

TANDEM_INLINE void size_of(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const std::uint32_t mask = c.attrs.get<rules::SizeAttrs>().axis.mask(c.op, s.rank());
  i64 n = 1;
  for (int d = 0; d < s.rank(); ++d)
    if (mask >> d & 1u) n *= s.dim(d);
  const Operand& y = c.out[0];
  switch (y.spec->dtype) {
    case DType::float32: return detail::put_number<float>(y, n);
    case DType::float64: return detail::put_number<double>(y, n);
    case DType::complex64: y.as<float>()[0] = static_cast<float>(n), y.as<float>()[1] = 0; return;
    case DType::complex128: y.as<double>()[0] = static_cast<double>(n), y.as<double>()[1] = 0; return;
    default: std::memcpy(y.data, &n, size_of(y.spec->dtype));  // integers wrap; little endian
  }
}

}  // namespace TANDEM_NS::cpu
