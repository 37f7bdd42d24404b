// Pooling of float16 and bfloat16. What a tile of results reads is widened, the float32 kernel runs on the tile as an
// image of its own, and what it computed is rounded. Not in header-only mode.
#pragma once
#include "tandem/cpu/conv/pool.hpp"
#include "tandem/cpu/conv/pool_driver.hpp"
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

/// Some rows of results in one plane of one image, and the rows of the image that belong to them. Its functions are
/// those of PartInPlace.
class HalfRowsPart {
 public:
  HalfRowsPart(const PoolPlan& whole, DType d, i64 image, i64 plane, Positions rows, Positions z, Positions y)
      : whole_(whole), image_(image), plane_(plane), rows_(rows), z_(z), y_(y), plan_(whole), tile_(d, room()) {
    plan_.batch = 1;
    plan_.axis[0] = part_of(whole.axis[0], z, plane, 1);
    plan_.axis[1] = part_of(whole.axis[1], y, rows.from, rows.count());
  }
  const PoolPlan& plan() const { return plan_; }
  PoolPart part() const { return {0, 0, 1, 0, rows_.count(), 0, plan_.channels}; }
  const float* image(const Operand& x) {
    const float* const to = tile_.room(0);
    for (i64 i = z_.from; i < z_.past; ++i) tile_.widen(x.as<const Bits>() + rows_at(i), plane_size(), 1, plane_size());
    return to;
  }
  const float* results(const Operand& y) {
    return tile_.widen(y.as<const Bits>() + results_at(), result_count(), 1, result_count());
  }
  float* new_results(const Operand&) { return tile_.room(result_count()); }
  void store_results(const float* from, const Operand& y) const {
    tile_.round(from, y.as<Bits>() + results_at(), result_count(), 1, result_count());
  }
  float* new_image(const Operand&) {
    float* const to = tile_.room(z_.count() * plane_size());
    std::fill_n(to, z_.count() * plane_size(), 0.f);
    return to;
  }
  void store_image(const float* from, const Operand& dx) const {
    for (i64 i = z_.from; i < z_.past; ++i, from += plane_size())
      tile_.round(from, dx.as<Bits>() + rows_at(i), plane_size(), 1, plane_size());
  }

 private:
  i64 room() const { return 2 * z_.count() * plane_size() + result_count(); }
  /// The numbers of the image's rows in one of its planes.
  i64 plane_size() const { return y_.count() * whole_.axis[2].in * whole_.channels; }
  i64 result_count() const { return rows_.count() * whole_.axis[2].out * whole_.channels; }
  i64 results_at() const {
    const WindowAxis &d = whole_.axis[0], &h = whole_.axis[1], &w = whole_.axis[2];
    return ((image_ * d.out + plane_) * h.out + rows_.from) * w.out * whole_.channels;
  }
  i64 rows_at(i64 plane) const {
    const WindowAxis &d = whole_.axis[0], &h = whole_.axis[1], &w = whole_.axis[2];
    return ((image_ * d.in + plane) * h.in + y_.from) * w.in * whole_.channels;
  }

  const PoolPlan& whole_;
  const i64 image_, plane_;
  const Positions rows_, z_, y_;
  PoolPlan plan_;  // of one image, which consists of these rows
  HalfTile tile_;
};

/// Some channels of a whole image.
class HalfChannelsPart {
 public:
  HalfChannelsPart(const PoolPlan& whole, DType d, i64 image, i64 channel, i64 past)
      : whole_(whole),
        in_(whole.axis[0].in * whole.axis[1].in * whole.axis[2].in),
        out_(whole.axis[0].out * whole.axis[1].out * whole.axis[2].out),
        image_at_(image * in_ * whole.channels + channel),
        results_at_(image * out_ * whole.channels + channel),
        plan_(whole),
        tile_(d, (2 * in_ + out_) * (past - channel)) {
    plan_.batch = 1, plan_.channels = past - channel;
  }
  const PoolPlan& plan() const { return plan_; }
  PoolPart part() const { return {0, 0, plan_.axis[0].out, 0, plan_.axis[1].out, 0, plan_.channels}; }
  const float* image(const Operand& x) {
    return tile_.widen(x.as<const Bits>() + image_at_, whole_.channels, in_, plan_.channels);
  }
  const float* results(const Operand& y) {
    return tile_.widen(y.as<const Bits>() + results_at_, whole_.channels, out_, plan_.channels);
  }
  float* new_image(const Operand&) {
    float* const to = tile_.room(in_ * plan_.channels);
    std::fill_n(to, in_ * plan_.channels, 0.f);
    return to;
  }
  void store_image(const float* from, const Operand& dx) const {
    tile_.round(from, dx.as<Bits>() + image_at_, whole_.channels, in_, plan_.channels);
  }

 private:
  const PoolPlan& whole_;
  const i64 in_, out_, image_at_, results_at_;
  PoolPlan plan_;
  HalfTile tile_;
};

/// Calls f(part) for bands of all results.
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
      const i64 plane = i / bands % depth.out, first = i % bands * most, past = std::min(first + most, h.out);
      f(HalfRowsPart(p, d, i / bands / depth.out, plane, {first, past}, positions(depth, plane, plane + 1),
                     positions(h, first, past)));
    }
  });
}

struct PoolWidened {
  using Number = float;

  template <class F>
  static void each(const PoolPlan& p, DType d, const F& f) {
    each_band(p, d, false, f);
  }
  /// Where windows overlap gradients are summed: a whole image, but few channels at a time.
  template <class F>
  static void each_apart(const PoolPlan& p, DType d, const F& f) {
    if (apart(p.axis[0]) && apart(p.axis[1])) return each_band(p, d, true, f);
    each_image_part(p, [&](i64 image, i64 channel, i64 past) { f(HalfChannelsPart(p, d, image, channel, past)); });
  }
};

TANDEM_INLINE void half_forward(const KernelCall& c, Pool<float> kernel) { forward_of<PoolWidened>(c, kernel); }
TANDEM_INLINE void half_pick(const KernelCall& c, TwoInputs<float> kernel) { pick_of<PoolWidened>(c, kernel); }
TANDEM_INLINE void half_backward(const KernelCall& c, TwoInputs<float> kernel, bool reads_x) {
  backward_of<PoolWidened>(c, kernel, reads_x);
}

}  // namespace TANDEM_NS::cpu::pooling
#endif
