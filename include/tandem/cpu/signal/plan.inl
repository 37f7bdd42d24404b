// Definitions of cpu/signal/plan.hpp.
#pragma once
#include <cmath>
#include <mutex>
#include <numbers>

#include "tandem/cpu/signal/plan.hpp"
#include "tandem/cpu/signal/rows.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS::cpu::fourier {

namespace detail {

// The most recently used plans, the latest last. Never destroyed, because transforms may still run during program exit.
struct PlanCache {
  struct Entry {
    int kind, lanes;
    i64 n, count;
    std::size_t bytes;
    Ref<Opaque> plan;
  };
  static constexpr std::size_t most_entries = 64, most_bytes = std::size_t(64) << 20;
  // These stay whatever their size: one transform has a plan, the passes of its two factors, and roots.
  static constexpr std::size_t least_entries = 4;

  tandem::detail::ForkMutex mutex{tandem::detail::ForkMutex::plans};
  std::vector<Entry> entries;
  std::size_t bytes = 0;

  Ref<Opaque> find(int kind, int lanes, i64 n, i64 count) {
    const std::lock_guard lock(mutex);
    for (std::size_t i = entries.size(); i-- > 0;) {
      Entry& e = entries[i];
      if (e.n != n || e.kind != kind || e.lanes != lanes || e.count != count) continue;
      for (; i + 1 < entries.size(); ++i) std::swap(entries[i], entries[i + 1]);
      return entries.back().plan;
    }
    return {};
  }
  void keep(const Entry& e) {
    std::vector<Entry> dropped;  // freed after the lock
    const std::lock_guard lock(mutex);
    entries.push_back(e);
    bytes += e.bytes;
    while (entries.size() > least_entries && (bytes > most_bytes || entries.size() > most_entries)) {
      bytes -= entries.front().bytes;
      dropped.push_back(entries.front());
      entries.erase(entries.begin());
    }
  }
};

}  // namespace detail

inline detail::PlanCache& plans() {
  static auto* const cache = new detail::PlanCache;
  return *cache;
}
TANDEM_INLINE const bool plans_made = (plans(), true);  // created when the library is loaded (at_fork.hpp)

namespace detail {

enum PlanKind { passes_kind, plan_kind, roots_kind };

template <class P, class Make>
Ref<P> cached(int kind, int lanes, i64 n, i64 count, const Make& make) {
  if (const Ref<Opaque> found = plans().find(kind, lanes, n, count)) return Ref<P>(static_cast<P*>(found.get()));
  const Ref<P> made = make_ref<P>();
  const std::size_t bytes = make(*made);
  plans().keep({kind, lanes, n, count, bytes, Ref<Opaque>(made.get())});
  return made;
}
template <class T>
constexpr int kind_of(PlanKind kind) {
  return kind * 2 + (sizeof(T) == 8);
}

template <class T>
void add_root(std::vector<T>& to, i64 k, i64 n) {
  const Root r = root_of_unity(k, n);
  to.push_back(static_cast<T>(r.re));
  to.push_back(static_cast<T>(r.im));
}
// The radix of the next pass: 8 and 4 need the fewest operations and reads for each factor 2.
inline i64 next_radix(i64 n) {
  if (n % 8 == 0 && n != 16) return 8;
  for (const i64 r : {4, 2, 3, 5})
    if (n % r == 0) return r;
  for (i64 r = 7; r * r <= n; r += 2)
    if (n % r == 0) return r;
  return n;
}
template <class T>
std::size_t make_passes(Passes<T>& to, i64 n) {
  struct At {
    std::size_t roots, inverse, unit;
  };
  std::vector<At> at;
  i64 left = n, s = 1;
  do {
    const i64 r = left == 1 ? 1 : next_radix(left), m = left / r;
    at.push_back({to.roots.size(), 0, 0});
    for (i64 p = 0; p < m; ++p)
      for (i64 k = 1; k < r; ++k) add_root(to.roots, p * k, left);
    at.back().inverse = to.roots.size();
    for (i64 p = 0; p < m; ++p)
      for (i64 k = 1; k < r; ++k) add_root(to.roots, -p * k, left);
    at.back().unit = to.roots.size();
    if (r > 5 && r != 8)
      for (i64 k = 0; k < r; ++k) add_root(to.roots, k, r);
    to.list.push_back({r, m, s, {}, nullptr});
    left = m, s *= r;
  } while (left > 1);
  for (std::size_t i = 0; i < at.size(); ++i) {
    to.list[i].roots[0] = to.roots.data() + at[i].roots;
    to.list[i].roots[1] = to.roots.data() + at[i].inverse;
    to.list[i].unit = to.roots.data() + at[i].unit;
  }
  to.view = {n, static_cast<int>(to.list.size()), to.list.data()};
  return to.roots.size() * sizeof(T);
}

// The factors n1 x n2 for which the fewest packs are computed; among equals those that are nearest to each other.
inline i64 best_factor(i64 n, i64 w) {
  i64 best = 1, least = -1;
  for (i64 a = 1; a * a <= n; ++a) {
    if (n % a) continue;
    for (const i64 n1 : {a, n / a}) {
      const i64 n2 = n / n1, cost = (n2 + w - 1) / w * n1 + (n1 + w - 1) / w * n2;
      if (least < 0 || cost <= least) best = n1, least = cost;
    }
  }
  return best;
}
template <class T>
void make_factors(Plan<T>& to, i64 w) {
  const i64 pad = (to.n1 + w - 1) / w * w, tiles = (to.n2 + w - 1) / w;
  to.factors.resize(static_cast<std::size_t>(tiles * pad * 2 * w));
  T* at = to.factors.data();
  for (i64 tile = 0; tile < tiles; ++tile)
    for (i64 k = 0; k < pad; ++k, at += 2 * w)
      for (i64 l = 0; l < w; ++l) {
        const Root r = root_of_unity((tile * w + l) * k, to.n);
        at[l] = static_cast<T>(r.re), at[w + l] = static_cast<T>(r.im);
      }
}
// The least length 2^k, 3 * 2^k, 5 * 2^k of at least `least`.
inline i64 convolution_length(i64 least) {
  i64 best = 0;
  for (const i64 odd : {1, 3, 5}) {
    i64 n = odd * 16;
    while (n < least) n *= 2;
    if (!best || n < best) best = n;
  }
  return best;
}
// Bluestein's algorithm: j k = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution with a chirp.
// Source: Bluestein, "A linear filtering approach to the computation of the discrete Fourier transform", 1970.
template <class T>
void make_convolution(Plan<T>& to) {
  const i64 n = to.n, length = to.length = convolution_length(2 * n - 1);
  std::vector<double> chirp, wave(static_cast<std::size_t>(2 * length)), filter(wave.size());
  for (i64 j = 0; j < n; ++j) {
    const auto square = static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(j);
    add_root(chirp, static_cast<i64>(square % static_cast<unsigned __int128>(2 * n)), 2 * n);
  }
  for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
    for (const std::size_t at : {j, (static_cast<std::size_t>(length) - j) % static_cast<std::size_t>(length)})
      wave[2 * at] = chirp[2 * j], wave[2 * at + 1] = -chirp[2 * j + 1];
  complex_rows<double>(wave.data(), 2 * length, filter.data(), 2 * length, 1, length, false,
                       1 / static_cast<double>(length));
  to.chirp.assign(chirp.begin(), chirp.end());
  to.filter.assign(filter.begin(), filter.end());
}
template <class T>
std::size_t make_plan(Plan<T>& to, i64 n, int lanes) {
  to.n = n;
  if (is_smooth(n)) {
    to.n1 = best_factor(n, lanes), to.n2 = n / to.n1;
    to.first = passes_of<T>(to.n1), to.second = passes_of<T>(to.n2);
    make_factors(to, lanes);
  } else {
    make_convolution(to);
  }
  return (to.factors.size() + to.chirp.size() + to.filter.size()) * sizeof(T);
}

}  // namespace detail

TANDEM_INLINE bool is_smooth(i64 n) {
  for (const i64 r : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
    while (n > 1 && n % r == 0) n /= r;
  return n == 1;
}
// Reduced to the first eighth of the circle, where both functions are exact to rounding.
TANDEM_INLINE Root root_of_unity(i64 k, i64 n) {
  k %= n;
  if (k < 0) k += n;
  const i64 eighth = 8 * k / n, quarter = (eighth + 1) / 2;  // the nearest multiple of a quarter turn
  const double angle = 2 * std::numbers::pi * static_cast<double>(4 * k - quarter * n) / (4 * static_cast<double>(n));
  const double c = std::cos(angle), s = std::sin(angle);
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}
template <class T>
Ref<Passes<T>> passes_of(i64 n) {
  return detail::cached<Passes<T>>(detail::kind_of<T>(detail::passes_kind), 0, n, 0,
                                   [&](Passes<T>& to) { return detail::make_passes(to, n); });
}
template <class T>
Ref<Plan<T>> plan_of(i64 n, int lanes) {
  return detail::cached<Plan<T>>(detail::kind_of<T>(detail::plan_kind), lanes, n, 0,
                                 [&](Plan<T>& to) { return detail::make_plan(to, n, lanes); });
}
template <class T>
Ref<Roots<T>> roots_of(i64 n, i64 count) {
  return detail::cached<Roots<T>>(detail::kind_of<T>(detail::roots_kind), 0, n, count, [&](Roots<T>& to) {
    to.at.resize(static_cast<std::size_t>(2 * count));
    for (i64 k = 0; k < count; ++k) {
      const Root r = root_of_unity(k, n);
      to.at[static_cast<std::size_t>(k)] = static_cast<T>(r.re);
      to.at[static_cast<std::size_t>(count + k)] = static_cast<T>(r.im);
    }
    return to.at.size() * sizeof(T);
  });
}

}  // namespace TANDEM_NS::cpu::fourier
