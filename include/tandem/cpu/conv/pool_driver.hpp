// Pooling and its gradients for operands of any type. An Access knows how these are stored: PoolInPlace, here, or
// PoolWidened of pool_half.inl, for half precision. For the definitions of pool.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/cpu/conv/pool_plan.hpp"

namespace TANDEM_NS::cpu::pooling {

/// A part of the results, and of the image what its windows read.
template <class T>
class PartInPlace {
 public:
  PartInPlace(const PoolPlan& p, const PoolPart& part) : plan_(p), part_(part) {}
  /// What the kernel is called with.
  const PoolPlan& plan() const { return plan_; }
  const PoolPart& part() const { return part_; }
  const T* image(const Operand& x) const { return x.as<const T>(); }
  const T* results(const Operand& y) const { return y.as<const T>(); }
  /// Where results are written, of which store_results() makes those of y.
  T* new_results(const Operand& y) const { return y.as<T>(); }
  void store_results(const T*, const Operand&) const {}
  /// Zeros in the place of the image, to which the kernel adds; store_image() makes dx of them.
  T* new_image(const Operand& dx) const {
    plan_.adjacent ? clear_rest(dx.as<T>()) : clear(dx.as<T>());
    return dx.as<T>();
  }
  void store_image(const T*, const Operand&) const {}

 private:
  // What no other part's windows touch.
  void clear(T* dx) const {
    const PoolPlan& p = plan_;
    const WindowAxis &d = p.axis[0], &h = p.axis[1], &w = p.axis[2];
    const i64 row = w.in * p.channels, n = part_.channel_end - part_.channel;
    for (i64 z = first_of(d, part_.plane), z_end = first_of(d, part_.plane_end); z < z_end; ++z)
      for (i64 y = first_of(h, part_.row), y_end = first_of(h, part_.row_end); y < y_end; ++y) {
        T* to = dx + ((part_.image * d.in + z) * h.in + y) * row + part_.channel;
        if (n == p.channels) std::fill_n(to, row, T(0));
        else
          for (i64 x = 0; x < w.in; ++x, to += p.channels) std::fill_n(to, n, T(0));
      }
  }
  // The same where windows are adjacent, for all channels: only what lies behind the last windows.
  void clear_rest(T* dx) const {
    const PoolPlan& p = plan_;
    const WindowAxis &d = p.axis[0], &h = p.axis[1], &w = p.axis[2];
    const auto past = [](const WindowAxis& a) { return std::clamp<i64>(a.out * a.stride - a.before, 0, a.in); };
    const i64 row = w.in * p.channels, covered = past(w) * p.channels;
    for (i64 z = first_of(d, part_.plane), z_end = first_of(d, part_.plane_end); z < z_end; ++z)
      for (i64 y = first_of(h, part_.row), y_end = first_of(h, part_.row_end); y < y_end; ++y) {
        T* const to = dx + ((part_.image * d.in + z) * h.in + y) * row;
        const i64 from = z < past(d) && y < past(h) ? covered : 0;
        std::fill_n(to + from, row - from, T(0));
      }
  }

  const PoolPlan& plan_;
  const PoolPart part_;
};

template <class T>
struct PoolInPlace {
  using Number = T;

  /// Calls f(part) for parts of all results.
  template <class F>
  static void each(const PoolPlan& p, DType, const F& f) {
    each_row(p, [&](const PoolPart& part) { f(PartInPlace<T>(p, part)); });
  }
  /// The same for parts whose windows touch nothing of the image that windows of other parts touch.
  template <class F>
  static void each_apart(const PoolPlan& p, DType d, const F& f) {
    if (apart(p.axis[0]) && apart(p.axis[1])) return each(p, d, f);
    each_image_part(p, [&](i64 image, i64 channel, i64 past) {
      f(PartInPlace<T>(p, {image, 0, p.axis[0].out, 0, p.axis[1].out, channel, past}));
    });
  }
};

template <class Access>
void forward_of(const KernelCall& c, Pool<typename Access::Number> kernel) {
  const PoolPlan p = plan_of(c, c.in[0].shape());
  if (c.out[0].size() == 0) return;
  Access::each(p, c.out[0].spec->dtype, [&](auto&& part) {
    const auto* const x = part.image(c.in[0]);
    auto* const y = part.new_results(c.out[0]);
    kernel(part.plan(), part.part(), x, y);
    part.store_results(y, c.out[0]);
  });
}
template <class Access>
void pick_of(const KernelCall& c, TwoInputs<typename Access::Number> kernel) {
  const PoolPlan p = plan_of(c, c.in[1].shape());
  if (c.out[0].size() == 0) return;
  Access::each(p, c.out[0].spec->dtype, [&](auto&& part) {
    const auto *const v = part.image(c.in[0]), *const x = part.image(c.in[1]);
    auto* const y = part.new_results(c.out[0]);
    kernel(part.plan(), part.part(), v, x, y);
    part.store_results(y, c.out[0]);
  });
}
/// reads_x: the kernel reads in1, and not only its shape matters.
template <class Access>
void backward_of(const KernelCall& c, TwoInputs<typename Access::Number> kernel, bool reads_x) {
  const Operand &g = c.in[0], &x = c.in[1], &dx = c.out[0];
  if (dx.size() == 0) return;
  if (g.size() == 0) return std::memset(dx.data, 0, dx.spec->bytes()), void();
  const PoolPlan p = plan_of(c, x.shape());
  Access::each_apart(p, dx.spec->dtype, [&](auto&& part) {
    const auto* const of_results = part.results(g);
    const auto* const image = reads_x ? part.image(x) : nullptr;
    auto* const to = part.new_image(dx);
    kernel(part.plan(), part.part(), of_results, image, to);
    part.store_image(to, dx);
  });
}

}  // namespace TANDEM_NS::cpu::pooling
