// The kernels of pooling, and how its results are divided into parts: for float32, float64, integers and half
// precision. For the definitions of pool.hpp.
#pragma once
#include <algorithm>
#include <limits>

#include "tandem/cpu/conv/pool.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/conv/pool.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::pooling {

inline PoolPlan plan_of(const KernelCall& c, const Shape& x) {
  const auto& a = c.attrs.get<rules::PoolAttrs>();
  const WindowAxes axes(a, x, a.ksize.begin());
  PoolPlan p{x.dim(0), x.dim(-1), {axes.axis[0], axes.axis[1], axes.axis[2]}, true};
  for (const WindowAxis& w : p.axis) p.adjacent = p.adjacent && w.dilation == 1 && w.stride == w.window;
  return p;
}
inline constexpr i64 worth_sharing = 16384;  // elements read

/// Calls body(part) for every row of results.
template <class F>
void each_row(const PoolPlan& p, F body) {
  const i64 planes = p.axis[0].out, rows = p.axis[1].out, read = p.axis[0].window * p.axis[1].window * p.axis[2].window;
  parallel_for(p.batch * planes * rows, worth_sharing / std::max<i64>(1, p.axis[2].out * read * p.channels) + 1,
               [&](i64 begin, i64 end) {
                 for (i64 i = begin; i < end; ++i) {
                   const i64 row = i % rows, plane = i / rows % planes;
                   body(PoolPart{i / rows / planes, plane, plane + 1, row, row + 1, 0, p.channels});
                 }
               });
}

template <class T>
using Pool = void (*)(const PoolPlan&, const PoolPart&, const T*, T*);
template <class T>
using TwoInputs = void (*)(const PoolPlan&, const PoolPart&, const T*, const T*, T*);
#define TANDEM_POOL_KERNEL(T, type, ...)                                  \
  [] {                                                                    \
    if constexpr (on_every_set<T> && std::is_floating_point_v<T>) {       \
      static constexpr ByIsa<type<T>> sets{TANDEM_EACH_ISA(__VA_ARGS__)}; \
      return sets.get();                                                  \
    } else {                                                              \
      return static_cast<type<T>>(&TANDEM_LOWEST_ISA::__VA_ARGS__);       \
    }                                                                     \
  }()

/// The first position that the windows from t on touch, and those before t do not.
inline i64 first_of(const WindowAxis& a, i64 t) {
  return t <= 0 ? 0 : t >= a.out ? a.in : std::clamp<i64>(t * a.stride - a.before, 0, a.in);
}
/// Whether no two windows along an axis touch the same position.
inline bool apart(const WindowAxis& a) { return a.stride > (a.window - 1) * a.dilation; }
/// How many channels of an image a thread computes where windows overlap: fewer if there are fewer blocks than threads.
inline i64 channel_block(const PoolPlan& p) {
  const i64 threads = config::intra_op_parallelism_threads();
  i64 block = 64;
  while (block > 16 && p.batch * ((p.channels + block - 1) / block) < threads) block /= 2;
  return block;
}
/// Calls f(image, channel, past) for blocks of the channels of each image.
template <class F>
void each_image_part(const PoolPlan& p, F f) {
  const i64 block = channel_block(p), blocks = (p.channels + block - 1) / block;
  const i64 size = p.axis[0].in * p.axis[1].in * p.axis[2].in * p.channels / std::max<i64>(1, blocks);
  parallel_for(p.batch * blocks, worth_sharing / std::max<i64>(1, size) + 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 channel = i % blocks * block;
      f(i / blocks, channel, std::min(p.channels, channel + block));
    }
  });
}

}  // namespace TANDEM_NS::cpu::pooling
