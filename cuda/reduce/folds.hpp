// The folds of reductions: sums, products, extrema and related ones. For .cu files.
#pragma once
#include <limits>

#include "cuda/number.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {

// Signed integers wrap, so they are added and multiplied as unsigned ones.
template <class T>
struct WrapOf {
  using type = T;
};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct WrapOf<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
struct SumFold {
  using In = T;
  using Acc = typename WrapOf<T>::type;
  using Out = T;
  TANDEM_HD Acc start() const { return Acc(0); }
  TANDEM_HD Acc take(In x, i64, i64) const { return static_cast<Acc>(x); }
  TANDEM_HD Acc join(Acc a, Acc b) const { return static_cast<Acc>(a + b); }
  TANDEM_HD Out finish(Acc a, i64) const { return static_cast<Out>(a); }
};
template <class T>
struct MeanFold : SumFold<T> {
  T count;
  TANDEM_HD T finish(T a, i64) const { return a / count; }
};
/// The mean of integers: summed in 64 bits, truncated toward zero.
template <class T>
struct WholeMeanFold {
  using In = T;
  using Wide = std::conditional_t<std::is_signed_v<T>, i64, u64>;
  using Acc = u64;
  using Out = T;
  i64 count;
  TANDEM_HD Acc start() const { return 0; }
  TANDEM_HD Acc take(In x, i64, i64) const { return static_cast<Acc>(static_cast<Wide>(x)); }
  TANDEM_HD Acc join(Acc a, Acc b) const { return a + b; }
  TANDEM_HD Out finish(Acc a, i64) const { return static_cast<Out>(static_cast<Wide>(a) / static_cast<Wide>(count)); }
};
template <class T>
struct ProdFold {
  using In = T;
  using Acc = typename WrapOf<T>::type;
  using Out = T;
  TANDEM_HD Acc start() const { return Acc(1); }
  TANDEM_HD Acc take(In x, i64, i64) const { return static_cast<Acc>(x); }
  TANDEM_HD Acc join(Acc a, Acc b) const {
    if constexpr (sizeof(Acc) < 4) return static_cast<Acc>(static_cast<std::uint32_t>(a) * b);
    else return a * b;
  }
  TANDEM_HD Out finish(Acc a, i64) const { return static_cast<Out>(a); }
};

template <class T>
TANDEM_HD T lowest_of() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::min();
}
template <class T>
TANDEM_HD T highest_of() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}
template <class T, bool Max>
struct ExtremeFold {
  using In = T;
  using Acc = T;
  using Out = T;
  TANDEM_HD Acc start() const { return Max ? lowest_of<T>() : highest_of<T>(); }
  TANDEM_HD Acc take(In x, i64, i64) const { return x; }
  TANDEM_HD Acc join(Acc a, Acc b) const { return Max ? rules::max(a, b) : rules::min(a, b); }
  TANDEM_HD Out finish(Acc a, i64) const { return a; }
};
template <bool All>
struct TruthFold {
  using In = std::uint8_t;
  using Acc = std::uint8_t;
  using Out = std::uint8_t;
  TANDEM_HD Acc start() const { return All; }
  TANDEM_HD Acc take(In x, i64, i64) const { return x; }
  TANDEM_HD Acc join(Acc a, Acc b) const { return All ? a & b : a | b; }
  TANDEM_HD Out finish(Acc a, i64) const { return a; }
};
template <class T>
struct CountFold {
  using In = T;
  using Acc = i64;
  using Out = i64;
  TANDEM_HD Acc start() const { return 0; }
  TANDEM_HD Acc take(In x, i64, i64) const { return x != T(0) ? 1 : 0; }
  TANDEM_HD Acc join(Acc a, Acc b) const { return a + b; }
  TANDEM_HD Out finish(Acc a, i64) const { return a; }
};

/// The position of the largest (smallest) element: the first among equals; the first NaN wins over all.
template <class T, bool Max, class I>
struct ArgFold {
  struct Acc {
    T value;
    i64 at;
  };
  using In = T;
  using Out = I;
  static constexpr i64 nowhere = -1;
  TANDEM_HD Acc start() const { return {T(0), nowhere}; }
  TANDEM_HD Acc take(In x, i64 place, i64) const { return {x, place}; }
  TANDEM_HD Acc join(Acc a, Acc b) const {
    if (a.at == nowhere || b.at == nowhere) return a.at == nowhere ? b : a;
    const Acc first = a.at < b.at ? a : b, second = a.at < b.at ? b : a;
    if (first.value != first.value) return first;
    const bool better = Max ? second.value > first.value : second.value < first.value;
    return better || second.value != second.value ? second : first;
  }
  TANDEM_HD Out finish(Acc a, i64) const { return static_cast<Out>(a.at); }
};

// Second passes: `of` holds one value per output from the previous pass.
/// The largest element, or 0 if it is not finite: subtracting it cannot introduce a NaN.
template <class T>
struct FiniteMaxFold : ExtremeFold<T, true> {
  TANDEM_HD T finish(T m, i64) const { return m - m == T(0) ? m : T(0); }
};
template <class T>
struct LogSumExpFold : SumFold<T> {
  const T* of;
  TANDEM_HD T take(T x, i64, i64 o) const { return rules::exp(x - of[o]); }
  TANDEM_HD T finish(T a, i64 o) const { return rules::log(a) + of[o]; }
};
/// Of float32 in double precision, where squares neither overflow nor underflow.
template <class T>
struct WideMeanFold {
  using In = T;
  using Acc = typename WideNumber<T>::type;
  using Out = Acc;
  Acc count;
  TANDEM_HD Acc start() const { return Acc(0); }
  TANDEM_HD Acc take(In x, i64, i64) const { return static_cast<Acc>(x); }
  TANDEM_HD Acc join(Acc a, Acc b) const { return a + b; }
  TANDEM_HD Out finish(Acc a, i64) const { return a / count; }
};
/// `of` has the means, as numbers of type M.
template <class T, class M = typename WideNumber<T>::type>
struct VarianceFold : WideMeanFold<T> {
  using Acc = typename WideNumber<T>::type;
  using Out = T;
  const M* of;
  bool root;
  TANDEM_HD Acc take(T x, i64, i64 o) const {
    const Acc d = static_cast<Acc>(x) - static_cast<Acc>(of[o]);
    return d * d;
  }
  TANDEM_HD Out finish(Acc a, i64) const {
    const Acc mean = a / this->count;
    return static_cast<T>(root ? rules::sqrt(mean) : mean);
  }
};
/// The power of two that brings the largest magnitude near 1, so that squares neither overflow nor underflow.
template <class T>
struct ScaleFold : ExtremeFold<T, true> {
  TANDEM_HD T start() const { return T(0); }
  TANDEM_HD T take(T x, i64, i64) const { return rules::abs(x); }
  TANDEM_HD T finish(T m, i64) const {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, u64>;
    constexpr int digits = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
    const int e = static_cast<int>(std::bit_cast<U>(m) >> digits);
    if (e > 2 * bias) return T(1);
    const int inverse = 2 * bias - e;
    return std::bit_cast<T>(static_cast<U>(inverse > 2 * bias - 1 ? 2 * bias - 1
                                           : inverse < 1          ? 1
                                                                  : inverse)
                            << digits);
  }
};
template <class T>
struct NormFold : SumFold<T> {
  const T* of;
  TANDEM_HD T take(T x, i64, i64 o) const { return (x * of[o]) * (x * of[o]); }
  TANDEM_HD T finish(T a, i64 o) const { return rules::sqrt(a) / of[o]; }
};

}  // namespace TANDEM_NS::cuda
