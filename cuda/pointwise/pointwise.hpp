// pointwise<Rule>: the CUDA kernel of a pointwise op, from the same rule as on the CPU. Equal shapes and scalars are
// read 16 bytes at a time; true broadcasts use an IndexMap. For .cu files only. Each .cu file instantiates the
// kernels of a whole list of ops, so a new op needs no edit there.
#pragma once
#include <cstdint>

#include "cuda/chunk.hpp"
#include "cuda/index_map.hpp"
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "cuda/report.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {

template <class R>
void pointwise(const KernelCall& c);

namespace detail {

// bool_ elements are computed as bytes 0 and 1, as on the CPU.
template <class S>
using LaneOf = std::conditional_t<std::is_same_v<S, bool>, std::uint8_t, ComputeOf_t<S>>;

template <class R, class S>
struct RuleTypes {
  static constexpr int arity = R::info.arity;
  using Lane = LaneOf<S>;
  template <int K>
  using Stored = std::conditional_t<rules::takes_mask<R> && K == 0, bool, S>;
  template <int K>
  using Input = std::conditional_t<rules::takes_mask<R> && K == 0, bool, Lane>;

  template <int... K>
  static auto result(std::integer_sequence<int, K...>)
      -> decltype(rules::forward<R>(std::declval<const rules::ParamsOf<R>&>(), std::declval<Input<K>>()...));
  using Result = decltype(result(std::make_integer_sequence<int, arity>()));
  // Half precision in, half precision out; bool_ bytes stay bool_.
  using Out = std::conditional_t<std::is_same_v<Result, Lane>, S, Result>;
};

template <int Arity>
struct Operands {
  const void* in[Arity];
  void* out;
  bool scalar[Arity];
  bool vector;
};

// Elements that a thread processes at once: 16 bytes, but at most four (a rule is unrolled as often).
template <class S>
inline constexpr int chunk = sizeof(S) >= 16  ? 1
                             : sizeof(S) == 8 ? 2
                                              : 4;

/// Reports to the host which element of the output a rule rejects: what Rule::check raises on the CPU before it
/// computes.
template <class R>
concept Rejecting = requires {
  R::rejection;
};
template <class R>
struct Inspector {
  explicit Inspector(const KernelCall&) {}
  Inspector from(i64) const { return *this; }
  template <class... V>
  __device__ __forceinline__ void look(i64, const V&...) const {}
};
template <Rejecting R>
struct Inspector<R> {
  explicit Inspector(const KernelCall& c) : report(c) {}
  /// The inspector for a part of the output that begins at an element.
  Inspector from(i64 element) const {
    Inspector r = *this;
    r.first = element;
    return r;
  }
  template <class... V>
  __device__ __forceinline__ void look(i64 element, const V&... x) const {
    if (R::rejects(x...)) report.complain(unit, what, first + element);
  }
  Reporter report;
  const char *unit = "element", *what = R::rejection;  // host strings
  i64 first = 0;
};

template <class R, class S, int... K>
__device__ __forceinline__ auto apply_rule(const rules::ParamsOf<R>& p, const Inspector<R>& inspector, i64 element,
                                           std::integer_sequence<int, K...>,
                                           const typename RuleTypes<R, S>::template Input<K>&... x) {
  using T = RuleTypes<R, S>;
  inspector.look(element, x...);
  return static_cast<typename T::Out>(rules::forward<R>(p, x...));
}

// One thread's share of the elements, with the operands' positions as a parameter pack.
template <class R, class S, int... K>
__device__ __forceinline__ void flat_loop(const Operands<R::info.arity>& o, i64 n, const rules::ParamsOf<R>& p,
                                          const Inspector<R>& inspector, std::integer_sequence<int, K...> each) {
  using T = RuleTypes<R, S>;
  constexpr int N = chunk<S>;
  const i64 first = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x,
            step = static_cast<i64>(gridDim.x) * blockDim.x;
  const i64 chunks = o.vector ? n / N : 0;
  for (i64 i = first; i < chunks; i += step) {
    const auto load = [&]<int k>(std::integral_constant<int, k>) {
      using X = typename T::template Stored<k>;
      Chunk<X, N> c;
      if (!o.scalar[k]) return static_cast<const Chunk<X, N>*>(o.in[k])[i];
      for (int j = 0; j < N; ++j) c.at[j] = *static_cast<const X*>(o.in[k]);
      return c;
    };
    const auto compute = [&](const auto&... x) {
      Chunk<typename T::Out, N> y;
#pragma unroll
      for (int j = 0; j < N; ++j)
        y.at[j] = apply_rule<R, S, K...>(p, inspector, i * N + j, each,
                                         static_cast<typename T::template Input<K>>(x.at[j])...);
      static_cast<Chunk<typename T::Out, N>*>(o.out)[i] = y;
    };
    compute(load(std::integral_constant<int, K>())...);
  }
  for (i64 i = chunks * N + first; i < n; i += step)
    static_cast<typename T::Out*>(o.out)[i] = apply_rule<R, S, K...>(
        p, inspector, i, each,
        static_cast<typename T::template Input<K>>(
            static_cast<const typename T::template Stored<K>*>(o.in[K])[o.scalar[K] ? 0 : i])...);
}
template <class R, class S>
__global__ void __launch_bounds__(block_size)
    flat_kernel(Operands<R::info.arity> o, i64 n, rules::ParamsOf<R> p, Inspector<R> inspector) {
  flat_loop<R, S>(o, n, p, inspector, std::make_integer_sequence<int, R::info.arity>());
}

template <class R, class S, int Axes, int... K>
__device__ __forceinline__ void broadcast_loop(const Operands<R::info.arity>& o,
                                               const IndexMap<R::info.arity, Axes>& map, std::uint32_t n,
                                               const rules::ParamsOf<R>& p, const Inspector<R>& inspector,
                                               std::integer_sequence<int, K...> each) {
  using T = RuleTypes<R, S>;
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    i64 at[R::info.arity];
    map.offsets(i, at);
    static_cast<typename T::Out*>(o.out)[i] =
        apply_rule<R, S, K...>(p, inspector, i, each,
                               static_cast<typename T::template Input<K>>(
                                   static_cast<const typename T::template Stored<K>*>(o.in[K])[at[K]])...);
  }
}
template <class R, class S>
__global__ void __launch_bounds__(block_size)
    broadcast_kernel(Operands<R::info.arity> o, IndexMap<R::info.arity, max_rank> map, std::uint32_t n,
                     rules::ParamsOf<R> p, Inspector<R> inspector) {
  broadcast_loop<R, S>(o, map, n, p, inspector, std::make_integer_sequence<int, R::info.arity>());
}

template <int Arity>
Operands<Arity> operands_of(const KernelCall& c) {
  Operands<Arity> o{};
  for (std::size_t k = 0; k < Arity; ++k) {
    o.in[k] = c.in[k].data;
    o.scalar[k] = c.in[k].size() == 1;
  }
  o.out = c.out[0].data;
  return o;
}
// Operands as large as the output have its shape, except for axes of size 1.
template <int Arity>
bool is_flat(const KernelCall& c, const Operands<Arity>& o) {
  for (std::size_t k = 0; k < Arity; ++k)
    if (!o.scalar[k] && c.in[k].size() != c.out[0].size()) return false;
  return true;
}
inline bool is_aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

template <class R, class S>
bool can_take_chunks(const Operands<R::info.arity>& o) {
  using T = RuleTypes<R, S>;
  bool fits = is_aligned(o.out, alignof(Chunk<typename T::Out, chunk<S>>));
  for (int k = 0; k < R::info.arity; ++k) {
    const std::size_t width = rules::takes_mask<R> && k == 0 ? sizeof(bool) : sizeof(S);
    fits &= o.scalar[k] || is_aligned(o.in[k], std::min<std::size_t>(16, width * chunk<S>));
  }
  return fits;
}

template <class R, class S>
void run_broadcast(const KernelCall& c, const Operands<R::info.arity>& whole, const rules::ParamsOf<R>& p) {
  constexpr int arity = R::info.arity;
  const Shape* shapes[arity + 1];  // with the output's: parts of a large call begin inside it
  for (std::size_t k = 0; k < arity; ++k) shapes[k] = &c.in[k].shape();
  shapes[arity] = &c.out[0].shape();
  const auto list = broadcast_axes(c.out[0].shape(), shapes);
  in_pieces(list, [&](const auto& piece, const i64* at) {
    Operands<arity> o = whole;
    for (int k = 0; k < arity; ++k) {
      const std::size_t width = rules::takes_mask<R> && k == 0 ? sizeof(bool) : sizeof(S);
      o.in[k] = static_cast<const char*>(whole.in[k]) + at[k] * static_cast<i64>(width);
    }
    o.out = static_cast<typename RuleTypes<R, S>::Out*>(whole.out) + at[arity];
    const i64 n = piece.count();
    launch(c, &broadcast_kernel<R, S>, blocks_for(n), o, piece.template map<arity>(), static_cast<std::uint32_t>(n), p,
           Inspector<R>(c).from(at[arity]));
  });
}
template <class R, class S>
void run_rule(const KernelCall& c) {
  constexpr int arity = R::info.arity;
  rules::ParamsOf<R> p{};
  if constexpr (rules::has_params<R>) p = c.attrs.template get<typename R::Params>();
  Operands<arity> o = operands_of<arity>(c);
  if (!is_flat(c, o)) return run_broadcast<R, S>(c, o, p);
  o.vector = can_take_chunks<R, S>(o);
  const i64 n = c.out[0].size();
  launch(c, &flat_kernel<R, S>, blocks_for(n, block_size * (o.vector ? chunk<S> : 1)), o, n, p, Inspector<R>(c));
}

// The bits of complex128.
struct WideBits {
  std::int64_t half[2];
};
TANDEM_HD WideBits select(bool m, WideBits a, WideBits b) { return m ? a : b; }

// Calls f.operator()<S>() for a rule that only selects among values, with a type of the dtype's width: bits are moved.
// Not bool, of which some bits are no value.
template <class F>
void with_bits(const KernelCall& c, DType d, const F& f) {
  switch (size_of(d)) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::int16_t>();
    case 4: return f.template operator()<std::int32_t>();
    case 8: return f.template operator()<std::int64_t>();
    case 16: return f.template operator()<WideBits>();
    default: raise_no_kernel(c, d);
  }
}

}  // namespace detail

/// out = rule(in...), as cpu::pointwise, except for Rule::check, which would wait for the device: the kernel reports
/// what Rule::rejects, and the host raises that after its next wait.
///   throws  errors::UnimplementedError for a dtype that the rule does not support, CudaError if the launch fails
template <class R>
void pointwise(const KernelCall& c) {
  static_assert(
      detail::Rejecting<R> || !requires { R::check(c); }, "a rule with `check` must also define `rejects`");
  if (c.out[0].size() == 0) return;
  const DType d = c.in[R::info.arity - 1].spec->dtype;
  const auto run = [&]<class S>() { detail::run_rule<R, S>(c); };
  if constexpr (rules::takes_mask<R>) detail::with_bits(c, d, run);
  else with_dtype<R::info.dtypes>(c, d, run);
}

}  // namespace TANDEM_NS::cuda

/// In a .cu file, at global scope: instantiates the kernels of a list of ops (ops/pointwise/define.hpp).
#define TANDEM_CUDA_KERNELS(list)                                  \
  namespace TANDEM_NS::cuda {                                      \
  list(TANDEM_CUDA_KERNEL, TANDEM_CUDA_KERNEL, TANDEM_CUDA_KERNEL) \
  }
#define TANDEM_CUDA_KERNEL(op) template void pointwise<rules::op##_rule>(const KernelCall&);
