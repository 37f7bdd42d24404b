// The loop of a filter gradient over chunks of the bands. For the definitions of conv.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/access.hpp"
#include "tandem/cpu/conv/work.hpp"

namespace TANDEM_NS::cpu::convolution {

/// The filter gradient as sums over chunks of the bands, whose number depends on the sizes only, as a result must.
///   Access   how the operands are read (access.hpp)
template <class Access>
class FilterGradient {
  using T = typename Access::Number;
  using Stored = typename Access::Stored;
  using K = Kernels<T>;

 public:
  FilterGradient(const Sizes& s, const Stored* x, const Stored* g, T* dw)
      : of_(s, sizeof(T)), p_(of_.plan), deep_(s.depthwise()), taps_(s.taps()), x_(x), g_(g), dw_(dw) {
    size_ = s.taps() * s.in_channels * s.groups * s.out_channels;
    work_ = results(p_) * double(size_) * (deep_ ? 4.0 / double(s.groups) : 1);
    const i64 most = std::min<i64>(16, i64(work_ / 1e6) + 1);
    of_.divide(most);
    chunks_ = std::clamp<i64>((4 << 20) / (size_ * i64(sizeof(T))), 1, std::min(most, p_.items()));
    // Few chunks: also by segments, each of which then copies its bands itself.
    parts_ = deep_ || chunks_ >= 8 || work_ < 1e7 ? 1 : p_.segments;
  }

  void run() {
    const Room<T> partial((chunks_ - 1) * size_);
    if (of_.taps() < taps_) {  // the other taps read only zeros
      std::fill_n(dw_, size_, T(0));
      std::fill_n(partial.data(), (chunks_ - 1) * size_, T(0));
      if (of_.taps() == 0) return;
    }
    const typename Access::Bands bands(of_, p_.groups * (deep_ ? p_.repeat : p_.columns), summed_results);
    share(chunks_ * parts_, work_, [&](i64 begin, i64 end) {
      Thread thread(bands, deep_);
      for (i64 i = begin; i < end; ++i) {
        const i64 chunk = i / parts_;
        one(chunk, i % parts_, chunk ? partial.data() + (chunk - 1) * size_ : dw_, thread);
      }
    });
    for (i64 c = 1; c < chunks_; ++c)
      for (i64 i = 0; i < size_; ++i) dw_[i] += partial.data()[(c - 1) * size_ + i];
  }

 private:
  /// What a thread needs for bands of the plan.
  struct Thread {
    typename Access::Band band;
    const Room<T> room, panel;
    Thread(const typename Access::Bands& bands, bool deep)
        : band(bands), room(band.room()), panel(deep ? 0 : K::panel_room.get()(band.plan())) {}
  };

  /// The sums of a part of the segments over a chunk of the bands.
  void one(i64 chunk, i64 part, T* to, Thread& t) const {
    if (deep_) std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(size_) * sizeof(T));
    const i64 segment = part * p_.segments / parts_, past = (part + 1) * p_.segments / parts_;
    const auto add = [&](const BandCall<T, const T>& c) {
      if (deep_) return K::correlate_depthwise.get()(t.band.plan(), c.x, c.y, to, c.begin, c.end, t.room.data());
      K::correlate.get()(t.band.plan(), {.x = c.x,
                                         .g = c.y,
                                         .dw = to,
                                         .begin = c.begin,
                                         .end = c.end,
                                         .from = segment,
                                         .past = past,
                                         .fresh = c.is_first,
                                         .room = t.room.data(),
                                         .panel = t.panel.data()});
    };
    t.band.each_read(x_, g_, chunk * p_.items() / chunks_, (chunk + 1) * p_.items() / chunks_, add);
  }

  PlanOf of_;
  const ConvPlan& p_;
  const bool deep_;
  const i64 taps_;
  const Stored *const x_, *const g_;
  T* const dw_;
  i64 size_, chunks_, parts_;
  double work_;
};

}  // namespace TANDEM_NS::cpu::convolution
