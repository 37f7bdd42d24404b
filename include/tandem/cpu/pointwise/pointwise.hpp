// pointwise<Rule>: the CPU kernel of a pointwise op. Equal shapes are handled here; broadcasting, half precision and
// large calls go through one type-erased function. Not here: the loops (loop.inc), the packs, the rules.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tandem/core/kernel.hpp"
#include "tandem/cpu/pointwise/broadcast.hpp"
#include "tandem/cpu/simd/intrinsics.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"
#include "tandem/util/scalar_math.hpp"

#define TANDEM_KERNELS "tandem/cpu/pointwise/loop.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

using LoopFn = decltype(DenseLoop::run);

/// Runs a loop over operands that broadcast to the output's shape, in tiles, on several threads where that pays.
/// float16 and bfloat16 operands are converted to float32 tiles, so the loop must be float32's. With `narrow`,
/// narrow integers are likewise converted to int64 tiles.
TANDEM_API void run_tiled(const KernelCall& c, const DenseLoop& loop, bool narrow = false);

/// Raises UnimplementedError: the op declares a dtype that the loops do not support.
[[noreturn]] TANDEM_API void raise_no_loop(const KernelCall& c);

/// Calls that read and write fewer bytes than this run immediately on the caller's thread.
inline constexpr i64 small_call_bytes = 64 * 1024;

namespace detail {

using Loops = ByIsa<LoopFn>;
struct LoopTable {
  Loops of[dtype_count];
};
template <class R, class T>
constexpr Loops loops_on_sets() {
  if constexpr (on_every_set<T> && !rules::is_lanewise<R>) return {TANDEM_EACH_ISA(loop<R, T>)};
  else return {TANDEM_LOWEST_ISA_ONLY(loop<R, T>)};
}
template <class R, class T>
constexpr Loops loops_on_lowest_set() {
  return {TANDEM_LOWEST_ISA_ONLY(loop<R, T>)};
}
// In header-only mode narrow integers have no separate loops: they are converted to int64 tiles. The result is the
// same modulo their width, unless the rule itself depends on the width.
inline constexpr DTypes narrow_integers =
    dtypes_of(DType::int8, DType::int16, DType::uint8, DType::uint16, DType::uint32);
template <class R>
concept ReadsWidth = requires {
  R::reads_width;
};
template <class R>
inline constexpr bool has_narrow_loops = !TANDEM_IS_HEADER_ONLY || ReadsWidth<R> || !R::info.dtypes.has(DType::int64);
/// The loops for the rule's dtypes. The narrow and the unsigned integers are rare and use the lowest set's loops.
template <class R>
constexpr LoopTable loop_table() {
  LoopTable t{};
#define TANDEM_LOOPS(dtype, type, make) \
  if constexpr (R::info.dtypes.has(DType::dtype)) t.of[static_cast<int>(DType::dtype)] = make<R, type>();
  TANDEM_LOOPS(float32, float, loops_on_sets)
  TANDEM_LOOPS(float64, double, loops_on_sets)
  TANDEM_LOOPS(int32, std::int32_t, loops_on_sets)
  TANDEM_LOOPS(int64, std::int64_t, loops_on_sets)
  TANDEM_LOOPS(bool_, std::uint8_t, loops_on_sets)
  TANDEM_LOOPS(float16, float, loops_on_sets)
  TANDEM_LOOPS(bfloat16, float, loops_on_sets)
  if constexpr (has_narrow_loops<R>) {
    TANDEM_LOOPS(int8, std::int8_t, loops_on_lowest_set)
    TANDEM_LOOPS(int16, std::int16_t, loops_on_lowest_set)
    TANDEM_LOOPS(uint8, std::uint8_t, loops_on_lowest_set)
    TANDEM_LOOPS(uint16, std::uint16_t, loops_on_lowest_set)
    TANDEM_LOOPS(uint32, std::uint32_t, loops_on_lowest_set)
  } else {
    TANDEM_LOOPS(int8, std::int64_t, loops_on_sets)
    TANDEM_LOOPS(int16, std::int64_t, loops_on_sets)
    TANDEM_LOOPS(uint8, std::int64_t, loops_on_sets)
    TANDEM_LOOPS(uint16, std::int64_t, loops_on_sets)
    TANDEM_LOOPS(uint32, std::int64_t, loops_on_sets)
  }
  TANDEM_LOOPS(uint64, std::uint64_t, loops_on_lowest_set)
  TANDEM_LOOPS(complex64, std::complex<float>, loops_on_lowest_set)
  TANDEM_LOOPS(complex128, std::complex<double>, loops_on_lowest_set)
#undef TANDEM_LOOPS
  return t;
}
inline bool is_half(DType d) { return dtypes::half_floating.has(d); }
/// Whether operands of this dtype are converted to tiles of a wider one.
template <class R>
bool is_widened(DType d) {
  return is_half(d) || (!has_narrow_loops<R> && narrow_integers.has(d));
}

/// The number of elements of the output if all inputs have its shape, otherwise -1.
template <int Inputs>
[[gnu::always_inline]] inline i64 common_size(const KernelCall& c) {
  const Shape& o = c.out[0].spec->shape;
  for (std::size_t k = 0; k < Inputs; ++k)
    if (c.in[k].spec->shape.rank() != o.rank()) return -1;
  i64 n = 1;
  for (int d = 0; d < o.rank(); ++d) {
    for (std::size_t k = 0; k < Inputs; ++k)
      if (c.in[k].spec->shape.dim(d) != o.dim(d)) return -1;
    n *= o.dim(d);
  }
  return n;
}

}  // namespace detail

/// The loop of the rule R for inputs of `dtype`; `run` is null for a dtype without one.
template <class R>
DenseLoop dense_loop(DType dtype, const Attrs& attrs) {
  static constexpr detail::LoopTable table = detail::loop_table<R>();
  DenseLoop loop{table.of[static_cast<int>(dtype)].get(), nullptr, rules::is_costly<R>};
  if constexpr (rules::has_params<R>) loop.params = &attrs.template get<typename R::Params>();
  return loop;
}

/// The CPU kernel of the rule R (what a rule may declare: util/scalar_math.hpp).
///   inputs   R::info.arity of them (1 to 3), of one dtype in R::info.dtypes, any shapes that broadcast; the first
///            is bool_ if R::first_is_mask
///   output   of the broadcast shape; its dtype is what forward returns: V the inputs', mask_t<V> bool_,
///            V::rebind<U> U
///   throws   errors::UnimplementedError for a dtype without loops
/// bool_ elements are computed as bytes 0 and 1 (std::uint8_t lanes).
template <class R>
void pointwise(const KernelCall& c) {
  constexpr int arity = R::info.arity;
  if constexpr (requires { R::check(c); }) R::check(c);
  const DType dtype = c.in[arity - 1].spec->dtype;
  const DenseLoop loop = dense_loop<R>(dtype, c.attrs);
  if (!loop.run) [[unlikely]]
    raise_no_loop(c);
  const i64 n = detail::common_size<arity>(c);
  if (n < 0 || n * static_cast<i64>((arity + 1) * size_of(dtype)) > small_call_bytes || detail::is_widened<R>(dtype))
    return run_tiled(c, loop, !detail::has_narrow_loops<R>);
  const void* in[arity];
  for (std::size_t k = 0; k < arity; ++k) in[k] = c.in[k].data;
  // Called here rather than in a shared function: a call site with one target is well predicted.
  loop.run(in, c.out[0].data, n, loop.params, false);
}

}  // namespace TANDEM_NS::cpu
