// CPU kernels of reduce_mean, reduce_logsumexp, reduce_variance, reduce_std and reduce_euclidean_norm: one or two folds
// and a finish.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "tandem/cpu/reduce/call.hpp"
#include "tandem/cpu/reduce/reduce.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// Summed in 64 bits and truncated toward zero.
template <class T>
void mean_of_integers(const ReduceCall& r, void* workspace) {
  using A = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const i64 n = r.length();
  if (n == 0 && r.y.size())
    errors::raise<errors::InvalidArgumentError>(
        r.op, "the mean of no integers has no value: " + to_string(*r.x.spec) + " (cast to a floating dtype for NaN)");
  A* const sums = static_cast<A*>(workspace);
  plain_fold<T, A>(r, sums, A(0), [](A a, T x) {
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(static_cast<A>(x)));
  });
  for (i64 i = 0; i < r.y.size(); ++i) r.y.as<T>()[i] = static_cast<T>(sums[i] / static_cast<A>(n));
}

// The largest element, or 0 if it is not finite: subtracting it cannot introduce a NaN.
template <class T>
void finite_or_zero(void* p, i64 n) {
  T* const m = static_cast<T*>(p);
  for (i64 i = 0; i < n; ++i) m[i] = m[i] - m[i] == T(0) ? m[i] : T(0);
}
// The power of two that brings the largest magnitude near 1, so that squares neither overflow nor underflow.
template <class T>
void scale_of_size(void* p, i64 n) {
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int digits = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
  T* const m = static_cast<T*>(p);
  for (i64 i = 0; i < n; ++i) {
    const int e = static_cast<int>(std::bit_cast<U>(m[i]) >> digits);  // no sign: m is a magnitude
    const int inverse = 2 * bias - e > 2 * bias - 1 ? 2 * bias - 1 : 2 * bias - e < 1 ? 1 : 2 * bias - e;
    m[i] = e > 2 * bias ? T(1) : std::bit_cast<T>(static_cast<U>(inverse) << digits);
  }
}

// Sums of squares without a scale; whether none of them has overflowed, or has terms that underflow and count.
template <class T>
bool sums_of_squares(const ReduceCall& r, void* scales) {
  constexpr T least = sizeof(T) == 4 ? T(1e-24) : T(1e-290), most = std::numeric_limits<T>::max();
  const i64 n = r.y.size();
  std::fill_n(static_cast<T*>(scales), n, T(1));
  r.run<Fold::sum_squared_scaled>(scales, r.y.data);
  const T* const y = r.y.as<T>();
  for (i64 i = 0; i < n; ++i)
    if (!(y[i] >= least && y[i] <= most)) return false;
  return true;
}

// The population variance into y, the means into `means`.
TANDEM_INLINE void variance(const ReduceCall& r, void* means) {
  r.to_output<Fold::sum>();
  finish<Finish::divide>(r, nullptr, static_cast<double>(r.length()));
  std::memcpy(means, r.y.data, r.y.spec->bytes());
  r.run<Fold::sum_squared_difference>(means, r.y.data);
  finish<Finish::divide>(r, nullptr, static_cast<double>(r.length()));
}
// A running mean and sum of squared differences, in numbers of a wider range (Welford 1962).
template <class W>
struct RunningMoments {
  W n = 0, mean = 0, squares = 0;
};
template <class T, class W>
void repair_variance_of(const ReduceCall& r, void* means, bool root) {
  using Moments = RunningMoments<W>;
  T *const y = r.y.as<T>(), *const sizes = static_cast<T*>(means);
  const i64 n = r.y.size();
  bool suspect = false;
  constexpr T most = std::numeric_limits<T>::max();
  // Differences whose squares underflow are too small to be there unless the mean is small, too.
  const T tiny = root ? (sizeof(T) == 4 ? T(1e-15) : T(1e-145)) : T(0);
  for (i64 i = 0; i < n; ++i) {
    suspect |= !(y[i] <= most);
    suspect |= y[i] < tiny && std::abs(sizes[i]) < (sizeof(T) == 4 ? T(1e-9) : T(1e-135));
  }
  if (!suspect || r.x.size() == 0) return;
  r.run<Fold::max_abs>(nullptr, sizes);
  // NaN and infinity in the input are in the result already; 0 is exact where all elements are 0.
  const auto wrong = [=](i64 i) {
    return y[i] < tiny ? sizes[i] > T(0) && sizes[i] < T(1) : !(y[i] <= most) && sizes[i] <= most;
  };
  bool repairs = false;
  for (i64 i = 0; i < n; ++i) repairs |= wrong(i);
  if (!repairs) return;
  const std::unique_ptr<Moments[]> all(new Moments[static_cast<std::size_t>(n)]);
  plain_fold<T, Moments>(r, all.get(), Moments(), [](Moments m, T x) {
    const W d = static_cast<W>(x) - m.mean;
    m.n += 1, m.mean += d / m.n;
    m.squares += d * (static_cast<W>(x) - m.mean);
    return m;
  });
  for (i64 i = 0; i < n; ++i) {
    const Moments& m = all.get()[i];
    const W v = m.squares / m.n;
    if (wrong(i)) y[i] = static_cast<T>(root ? std::sqrt(v) : v);
  }
}
// Computes again, slowly, what has overflowed, and standard deviations that have underflowed, if there are any.
TANDEM_INLINE void repair_variance(const ReduceCall& r, void* means, bool root) {
  if (r.dtype() == DType::float64) repair_variance_of<double, long double>(r, means, root);
  else repair_variance_of<float, double>(r, means, root);
}

}  // namespace detail

TANDEM_INLINE void reduce_mean(const KernelCall& c) {
  const detail::ReduceCall r(c);
  switch (r.dtype()) {
    case DType::int8: return detail::mean_of_integers<std::int8_t>(r, c.workspace);
    case DType::int16: return detail::mean_of_integers<std::int16_t>(r, c.workspace);
    case DType::int32: return detail::mean_of_integers<std::int32_t>(r, c.workspace);
    case DType::int64: return detail::mean_of_integers<std::int64_t>(r, c.workspace);
    case DType::uint8: return detail::mean_of_integers<std::uint8_t>(r, c.workspace);
    case DType::uint16: return detail::mean_of_integers<std::uint16_t>(r, c.workspace);
    case DType::uint32: return detail::mean_of_integers<std::uint32_t>(r, c.workspace);
    case DType::uint64: return detail::mean_of_integers<std::uint64_t>(r, c.workspace);
    default: break;
  }
  detail::with_wide_result(c, [](const KernelCall& k) {
    const detail::ReduceCall wide(k);
    wide.to_output<Fold::sum>();
    detail::finish<Finish::divide>(wide, nullptr, static_cast<double>(wide.length()));
  });
}
TANDEM_INLINE void reduce_logsumexp(const KernelCall& c) {
  const detail::ReduceCall r(c);
  r.run<Fold::max>(nullptr, c.workspace);
  r.dtype() == DType::float64 ? detail::finite_or_zero<double>(c.workspace, r.y.size())
                              : detail::finite_or_zero<float>(c.workspace, r.y.size());
  r.run<Fold::sum_exp>(c.workspace, r.y.data);
  detail::finish<Finish::log_plus>(r, c.workspace, 0);
}
TANDEM_INLINE void reduce_variance(const KernelCall& c) {
  const detail::ReduceCall r(c);
  if (r.y.size() == 0) return;  // there is no workspace in that case
  detail::variance(r, c.workspace);
  detail::repair_variance(r, c.workspace, false);
}
TANDEM_INLINE void reduce_std(const KernelCall& c) {
  const detail::ReduceCall r(c);
  if (r.y.size() == 0) return;
  detail::variance(r, c.workspace);
  detail::finish<Finish::sqrt_over>(r, nullptr, 0);
  detail::repair_variance(r, c.workspace, true);
}
TANDEM_INLINE void reduce_euclidean_norm(const KernelCall& c) {
  const detail::ReduceCall r(c);
  const bool is_double = r.dtype() == DType::float64;
  if (is_double ? detail::sums_of_squares<double>(r, c.workspace) : detail::sums_of_squares<float>(r, c.workspace))
    return detail::finish<Finish::sqrt_over>(r, nullptr, 0);
  r.run<Fold::max_abs>(nullptr, c.workspace);
  is_double ? detail::scale_of_size<double>(c.workspace, r.y.size())
            : detail::scale_of_size<float>(c.workspace, r.y.size());
  r.run<Fold::sum_squared_scaled>(c.workspace, r.y.data);
  detail::finish<Finish::sqrt_over>(r, c.workspace, 0);
}

}  // namespace TANDEM_NS::cpu
