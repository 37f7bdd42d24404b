// The loop of a filter gradient over chunks of the bands, for float32, float64 and half precision. For the definitions
// of conv.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/work.hpp"

namespace TANDEM_NS::cpu::convolution {

/// The bands [begin, end) and the segments [segment, past) of a plan.
struct Chunk {
  i64 begin, end, segment, past;
};

/// The filter gradient as sums over chunks of the bands, whose number depends on the sizes only, as a result must.
///   Bands   the operands: Bands::Scratch is what a thread needs for bands of a plan, and correlate() writes the sums
///           of a chunk (adds them to zeros, if depthwise)
template <class T, class Bands>
class FilterGradient {
 public:
  FilterGradient(const Sizes& s, const Bands& bands, T* dw)
      : of_(s, sizeof(T)), p_(of_.plan), deep_(s.depthwise()), taps_(s.taps()), bands_(bands), dw_(dw) {
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
    share(chunks_ * parts_, work_, [&](i64 begin, i64 end) {
      typename Bands::Scratch scratch(of_, deep_);
      for (i64 i = begin; i < end; ++i) {
        const i64 chunk = i / parts_;
        one(chunk, i % parts_, chunk ? partial.data() + (chunk - 1) * size_ : dw_, scratch);
      }
    });
    for (i64 c = 1; c < chunks_; ++c)
      for (i64 i = 0; i < size_; ++i) dw_[i] += partial.data()[(c - 1) * size_ + i];
  }

 private:
  void one(i64 chunk, i64 part, T* to, typename Bands::Scratch& scratch) const {
    if (deep_) std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(size_) * sizeof(T));
    const Chunk c{chunk * p_.items() / chunks_, (chunk + 1) * p_.items() / chunks_, part * p_.segments / parts_,
                  (part + 1) * p_.segments / parts_};
    bands_.correlate(of_, deep_, to, c, scratch);
  }

  PlanOf of_;
  const ConvPlan& p_;
  const bool deep_;
  const i64 taps_;
  const Bands bands_;
  T* const dw_;
  i64 size_, chunks_, parts_;
  double work_;
};

}  // namespace TANDEM_NS::cpu::convolution
