// Pooling of float16 and bfloat16. What a tile of results reads is widened, the float32 kernel runs on the tile as an
// image of its own, and what it computed is rounded. Not in header-only mode.
#pragma once
#include "tandem/cpu/conv/pool.hpp"
#include "tandem/cpu/conv/pool_half.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::cpu::pooling {

using Bits = std::uint16_t;
inline constexpr i64 tile_numbers = 32768;  // of an image: with the results it stays in an L2 cache

/// Positions along an axis.
struct Positions {
  i64 from, past;
  i64 count() const { return past - from; }
};
/// What the windows [t, t_end) read along an axis, where it is inside of the image.
inline Positions read_by(const WindowAxis& a, i64 t, i64 t_end) {
  const i64 from = std::clamp<i64>(t * a.stride - a.before, 0, a.in);
  return {from, std::clamp<i64>((t_end - 1) * a.stride - a.before + (a.window - 1) * a.dilation + 1, from, a.in)};
}
/// The axis for `windows` windows from t on, of which only the positions `at` are there.
inline WindowAxis part_of(WindowAxis a, Positions at, i64 t, i64 windows) {
  a.before = at.from - (t * a.stride - a.before);
  a.in = at.count(), a.out = windows;
  return a;
}

/// Some rows of results in one plane of one image, and the rows of the image that belong to them.
struct Band {
  i64 image, plane, row, rows;
  Positions z, y;
  PoolPlan plan;  // of one image, which consists of these rows

  i64 numbers() const { return z.count() * y.count() * plan.axis[2].in * plan.channels; }
  i64 results() const { return rows * plan.axis[2].out * plan.channels; }
  /// The offset of the results in those of `whole`, and of the image's rows in plane i.
  i64 results_at(const PoolPlan& whole) const {
    return ((image * whole.axis[0].out + plane) * whole.axis[1].out + row) * plan.axis[2].out * plan.channels;
  }
  i64 rows_at(const PoolPlan& whole, i64 i) const {
    return ((image * whole.axis[0].in + i) * whole.axis[1].in + y.from) * plan.axis[2].in * plan.channels;
  }
  PoolPart part() const { return {0, 0, 1, 0, rows, 0, plan.channels}; }
  /// Widens the image's rows, or rounds them.
  const float* widen(const PoolPlan& whole, const Bits* x, HalfTile& tile) const {
    const i64 n = y.count() * plan.axis[2].in * plan.channels;
    const float* const to = tile.room(0);
    for (i64 i = z.from; i < z.past; ++i) tile.widen(x + rows_at(whole, i), n, 1, n);
    return to;
  }
  void round(const PoolPlan& whole, const float* from, Bits* x, const HalfTile& tile) const {
    const i64 n = y.count() * plan.axis[2].in * plan.channels;
    for (i64 i = z.from; i < z.past; ++i, from += n) tile.round(from, x + rows_at(whole, i), n, 1, n);
  }
};

/// Calls f(band, tile) for bands of all results.
///   owned   the bands' rows of the image are those that no other band's windows touch, and in between all others;
///           otherwise those that its windows read
template <class F>
void each_band(const PoolPlan& p, DType d, bool owned, const F& f) {
  const WindowAxis &depth = p.axis[0], &h = p.axis[1];
  const i64 row =
      std::max<i64>(1, p.axis[2].in * p.channels) * std::min(depth.in, (depth.window - 1) * depth.dilation + 1);
  const i64 most = std::clamp<i64>((tile_numbers / row - (h.window - 1) * h.dilation - 1) / h.stride + 1, 1, h.out);
  const i64 bands = (h.out + most - 1) / most, work = most * p.axis[2].out * p.channels * h.window * p.axis[2].window;
  const auto positions = [&](const WindowAxis& a, i64 t, i64 end) {
    return owned ? Positions{first_of(a, t), first_of(a, end)} : read_by(a, t, end);
  };
  parallel_for(p.batch * depth.out * bands, worth_sharing / std::max<i64>(1, work) + 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      Band b{i / bands / depth.out, i / bands % depth.out, i % bands * most, 0, {}, {}, p};
      b.rows = std::min(most, h.out - b.row);
      b.z = positions(depth, b.plane, b.plane + 1), b.y = positions(h, b.row, b.row + b.rows);
      b.plan.batch = 1;
      b.plan.axis[0] = part_of(depth, b.z, b.plane, 1), b.plan.axis[1] = part_of(h, b.y, b.row, b.rows);
      HalfTile tile(d, 2 * b.numbers() + b.results());
      f(b, tile);
    }
  });
}

TANDEM_INLINE void half_forward(const KernelCall& c, Pool<float> kernel) {
  const PoolPlan p = plan_of(c, c.in[0].shape());
  if (c.out[0].size() == 0) return;
  each_band(p, c.out[0].spec->dtype, false, [&](const Band& b, HalfTile& tile) {
    const float* const x = b.widen(p, c.in[0].as<Bits>(), tile);
    float* const y = tile.room(b.results());
    kernel(b.plan, b.part(), x, y);
    tile.round(y, c.out[0].as<Bits>() + b.results_at(p), b.results(), 1, b.results());
  });
}
TANDEM_INLINE void half_pick(const KernelCall& c, TwoInputs<float> kernel) {
  const PoolPlan p = plan_of(c, c.in[1].shape());
  if (c.out[0].size() == 0) return;
  each_band(p, c.out[0].spec->dtype, false, [&](const Band& b, HalfTile& tile) {
    const float* const v = b.widen(p, c.in[0].as<Bits>(), tile);
    const float* const x = b.widen(p, c.in[1].as<Bits>(), tile);
    float* const y = tile.room(b.results());
    kernel(b.plan, b.part(), v, x, y);
    tile.round(y, c.out[0].as<Bits>() + b.results_at(p), b.results(), 1, b.results());
  });
}

/// Where windows overlap gradients are summed: a whole image, but few channels at a time.
inline void half_backward_channels(const KernelCall& c, const PoolPlan& p, TwoInputs<float> kernel, bool reads_x) {
  const i64 block = channel_block(p), blocks = (p.channels + block - 1) / block;
  const i64 in = p.axis[0].in * p.axis[1].in * p.axis[2].in, out = p.axis[0].out * p.axis[1].out * p.axis[2].out;
  parallel_for(p.batch * blocks, worth_sharing / std::max<i64>(1, in * block) + 1, [&](i64 begin, i64 end) {
    HalfTile tile(c.out[0].spec->dtype, (2 * in + out) * block);
    for (i64 i = begin; i < end; ++i) {
      const i64 image = i / blocks, channel = i % blocks * block;
      PoolPlan own = p;
      own.batch = 1, own.channels = std::min(block, p.channels - channel);
      const i64 at = image * in * p.channels + channel;
      tile.clear();
      const float* const g =
          tile.widen(c.in[0].as<Bits>() + image * out * p.channels + channel, p.channels, out, own.channels);
      const float* const x = reads_x ? tile.widen(c.in[1].as<Bits>() + at, p.channels, in, own.channels) : nullptr;
      float* const dx = tile.room(in * own.channels);
      std::fill_n(dx, in * own.channels, 0.f);
      kernel(own, {0, 0, p.axis[0].out, 0, p.axis[1].out, 0, own.channels}, g, x, dx);
      tile.round(dx, c.out[0].as<Bits>() + at, p.channels, in, own.channels);
    }
  });
}
TANDEM_INLINE void half_backward(const KernelCall& c, TwoInputs<float> kernel, bool reads_x) {
  const Operand &g = c.in[0], &x = c.in[1], &dx = c.out[0];
  if (dx.size() == 0) return;
  if (g.size() == 0) return std::fill_n(dx.as<Bits>(), dx.size(), Bits(0)), void();
  const PoolPlan p = plan_of(c, x.shape());
  if (!apart(p.axis[0]) || !apart(p.axis[1])) return half_backward_channels(c, p, kernel, reads_x);
  each_band(p, dx.spec->dtype, true, [&](const Band& b, HalfTile& tile) {
    const float* const up = tile.widen(g.as<Bits>() + b.results_at(p), b.results(), 1, b.results());
    const float* const image = reads_x ? b.widen(p, x.as<Bits>(), tile) : nullptr;
    float* const to = tile.room(b.numbers());
    std::fill_n(to, b.numbers(), 0.f);
    kernel(b.plan, b.part(), up, image, to);
    b.round(p, to, dx.as<Bits>(), tile);
  });
}

}  // namespace TANDEM_NS::cpu::pooling
#endif
