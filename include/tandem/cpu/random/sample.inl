// Definitions of cpu/random/sample.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "tandem/attrs/random.hpp"
#include "tandem/base/bytes.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/random/sample.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

// The most likely class; raises for a row from which no class can be drawn.
template <class T>
i64 likeliest(const char* op, const T* row, i64 n, i64 index) {
  i64 best = 0;
  for (i64 k = 0; k < n; ++k) {
    if (std::isnan(row[k]))
      errors::raise<errors::InvalidArgumentError>(
          op, "row " + std::to_string(index) + " has a NaN, at class " + std::to_string(k));
    if (row[k] > row[best]) best = k;
  }
  if (row[best] == -INFINITY)
    errors::raise<errors::InvalidArgumentError>(
        op, "row " + std::to_string(index) + " has only -inf: nothing can be drawn");
  return best;
}
// Cumulative weights up to each class, relative to the most likely. A class of +inf shares only with other such
// classes.
template <class T>
void cumulate(const T* row, i64 n, i64 best, double temperature, double* sums) {
  const double highest = static_cast<double>(row[best]);
  double sum = 0;
  for (i64 k = 0; k < n; ++k) {
    const double x = static_cast<double>(row[k]);
    const bool never = x == -INFINITY || (std::isinf(highest) && x != highest);
    sum += never ? 0 : x == highest ? 1 : std::exp((x - highest) / temperature);
    sums[k] = sum;
  }
}
// The first class whose cumulative weight exceeds u times the total; a class without weight is never picked.
inline i64 pick(const double* sums, i64 n, double u) {
  const double target = std::min(u * sums[n - 1], std::nextafter(sums[n - 1], 0.0));
  return std::upper_bound(sums, sums + n, target) - sums;
}

inline void put_class(const Operand& out, i64 at, i64 k) {
  if (out.spec->dtype == DType::int64) out.as<i64>()[at] = k;
  else out.as<std::int32_t>()[at] = static_cast<std::int32_t>(k);
}
template <class T>
void draw_row(const KernelCall& c, i64 row, i64 n, double* sums) {
  const rules::CategoricalAttrs& a = c.attrs.get<rules::CategoricalAttrs>();
  const random::Stream s = random::stream_of(c.in[1].as<i64>());
  const T* logits = c.in[0].as<T>() + row * n;
  const i64 best = likeliest(c.op, logits, n, row);
  if (a.temperature == 0) return put_class(c.out[0], row, best);
  cumulate(logits, n, best, a.temperature, sums);
  for (i64 i = 0; i < a.num_samples; ++i) {
    const i64 at = row * a.num_samples + i;
    put_class(c.out[0], at, pick(sums, n, random::unit(random::word64(s, at))));
  }
}

}  // namespace detail

TANDEM_INLINE void categorical(const KernelCall& c) {
  const i64 n = c.in[0].shape().dim(-1), rows = c.in[0].size() / n;
  const bool single = c.in[0].spec->dtype == DType::float32;
  constexpr auto slots = static_cast<i64>(categorical_slots);
  parallel_for(std::min(slots, rows), n * rows / slots > 1000 ? 1 : slots, [&](i64 begin, i64 end) {
    for (i64 slot = begin; slot < end; ++slot)
      for (i64 row = slot; row < rows; row += slots) {
        double* sums = static_cast<double*>(c.workspace) + slot * n;
        if (single) detail::draw_row<float>(c, row, n, sums);
        else detail::draw_row<double>(c, row, n, sums);
      }
  });
}

// Fisher-Yates shuffle: swaps order[i] with one of order[0..i].
TANDEM_INLINE void shuffle_order(const i64* key, i64* order, i64 n) {
  const random::Stream s = random::stream_of(key);
  for (i64 i = 0; i < n; ++i) order[i] = i;
  for (i64 i = n - 1; i > 0; --i) {
    const auto j = static_cast<i64>(random::below(s, i, random::word64(s, i), static_cast<u64>(i) + 1));
    std::swap(order[i], order[j]);
  }
}
TANDEM_INLINE void shuffle(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = x.shape().dim(0);
  if (x.size() == 0) return;
  auto* const order = static_cast<i64*>(c.workspace);
  shuffle_order(c.in[1].as<const i64>(), order, n);
  const i64 row = x.size() / n;
  const bool inverse = c.attrs.get<rules::ShuffleAttrs>().inverse;
  const std::size_t bytes = static_cast<std::size_t>(row) * size_of(x.spec->dtype);
  for (i64 i = 0; i < n; ++i) {
    const i64 from = inverse ? i : order[i], to = inverse ? order[i] : i;
    if (x.spec->dtype == DType::string) std::copy_n(x.as<Bytes>() + from * row, row, y.as<Bytes>() + to * row);
    else
      std::memcpy(y.as<char>() + static_cast<std::size_t>(to) * bytes,
                  x.as<char>() + static_cast<std::size_t>(from) * bytes, bytes);
  }
}

}  // namespace TANDEM_NS::cpu
