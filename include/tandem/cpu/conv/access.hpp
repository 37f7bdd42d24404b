// How convolutions read and write their operands. InPlace is for float32 and float64; conv_half.inl has the other one,
// for half precision, with the same members:
//   Stored, Number   what is in memory, and what the kernels compute with
//   Copy             a small operand as Numbers
//   Sums             Numbers whose sums become a result
//   Bands, Band      the bands of a plan, and the one that a thread is at, for which a kernel is called
//   pack()           packs a filter for `gather`
// For the definitions of conv.hpp.
#pragma once
#include "tandem/cpu/conv/kernels.hpp"
#include "tandem/cpu/conv/make_plan.hpp"

namespace TANDEM_NS::cpu::convolution {

/// The operands of a kernel: y is in the place of x's results, in the bands [begin, end) of a Band's plan.
template <class T, class Y = T>
struct BandCall {
  const T* x;
  Y* y;
  i64 begin, end;
  bool is_first;
};

/// Channels [from, past) of the results.
struct Channels {
  i64 from, past;
};

template <class T>
struct InPlace {
  using Stored = T;
  using Number = T;
  static constexpr bool keeps_panels = true;  // of a Variable's value

  class Copy {
   public:
    Copy(const T* x, i64) : x_(x) {}
    const T* data() const { return x_; }

   private:
    const T* x_;
  };

  class Sums {
   public:
    Sums(T* to, i64) : to_(to) {}
    T* data() const { return to_; }
    void store() const {}

   private:
    T* to_;
  };

  /// For results with `channels` channels. A part of a row of results is a multiple of `unit`: here rows are whole.
  struct Bands {
    const PlanOf& of;
    explicit Bands(const PlanOf& plan, i64 /*channels*/, i64 /*unit*/ = 1) : of(plan) {}
    i64 count() const { return of.plan.items(); }
  };

  class Band {
   public:
    explicit Band(const Bands& bands) : of_(bands.of) {}
    const ConvPlan& plan() const { return of_.plan; }
    /// The scratch of kernels, in numbers.
    i64 room() const { return of_.room(); }
    /// Calls f(BandCall) for the bands [begin, end), of whose results the channels are written.
    template <class F>
    void each(const T* x, T* y, i64 begin, i64 end, Channels, const F& f) const {
      f(BandCall<T>{x, y, begin, end, true});
    }
    /// The same for results that are read. Here begin and end count the bands of the plan, whatever parts they have.
    template <class F>
    void each_read(const T* x, const T* g, i64 begin, i64 end, const F& f) const {
      f(BandCall<T, const T>{x, g, begin, end, true});
    }

   private:
    const PlanOf& of_;
  };

  static PackSegments<T> pack() { return Kernels<T>::pack.get(); }
};

}  // namespace TANDEM_NS::cpu::convolution
