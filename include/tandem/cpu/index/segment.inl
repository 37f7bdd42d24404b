// Definitions of cpu/index/segment.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/segment.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <SegmentFold F, class T>
inline T segment_step(T a, T b) {
  if constexpr (F == SegmentFold::sum) {
    return static_cast<T>(a + b);
  } else if constexpr (F == SegmentFold::prod) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4)
      return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
    else return a * b;
  } else if constexpr (F == SegmentFold::max) {
    return a < b || b != b ? b : a;
  } else {
    return b < a || b != b ? b : a;
  }
}
// The value from which a fold begins: infinite for the largest and smallest floating number.
template <SegmentFold F, class T>
T segment_start() {
  using L = std::numeric_limits<T>;
  if constexpr (F == SegmentFold::sum) return T(0);
  else if constexpr (F == SegmentFold::prod) return T(1);
  else if constexpr (F == SegmentFold::max) return L::has_infinity ? static_cast<T>(-L::infinity()) : L::lowest();
  else return L::has_infinity ? L::infinity() : L::max();
}
// The value of a segment without rows. TensorFlow's are finite where the ids are in any order.
template <SegmentFold F, class T>
T missing_segment(bool sorted) {
  using L = std::numeric_limits<T>;
  if constexpr (F == SegmentFold::prod) return T(1);
  else if constexpr (F == SegmentFold::sum) return T(0);
  else return sorted ? T(0) : F == SegmentFold::max ? L::lowest() : L::max();
}

// The rows and the part of them that one piece of work folds.
struct SegmentPart {
  const void* from;
  const void* ids;
  void* to;
  i64 inner, first, last, column, columns;  // rows [first, last), elements [column, columns) of each
  i64 row, rows;                            // go to the segments [row, row + rows)
  const void* wide;                         // a sum's WideRows of the whole call
};
template <SegmentFold F, class T, class I>
void fold_segments(const SegmentPart& p) {
  const I* const ids = static_cast<const I*>(p.ids);
  if constexpr (F == SegmentFold::sum) {
    const T* const x = static_cast<const T*>(p.from);
    const RowSums<T> sums(static_cast<T*>(p.to), {p.inner, p.column, p.columns, p.row, p.row + p.rows},
                          *static_cast<const WideRows<T>*>(p.wide));
    for (i64 i = p.first; i < p.last; ++i)
      if (ids[i] >= 0) sums.add(static_cast<i64>(ids[i]), x + i * p.inner);
    return;
  }
  for (i64 i = p.first; i < p.last; ++i) {
    if (ids[i] < 0) continue;
    T* const row = static_cast<T*>(p.to) + static_cast<i64>(ids[i]) * p.inner;
    const T* const x = static_cast<const T*>(p.from) + i * p.inner;
    for (i64 k = p.column; k < p.columns; ++k) row[k] = segment_step<F>(row[k], x[k]);
  }
}

struct SegmentWork {
  const KernelCall& c;
  bool sorted;
  i64 count, rows, inner = 1, width;

  SegmentWork(const KernelCall& call, bool in_order)
      : c(call),
        sorted(in_order),
        count(c.in[1].size()),
        rows(c.out[0].shape().dim(0)),
        width(static_cast<i64>(size_of(c.out[0].spec->dtype))) {
    for (int d = 1; d < c.out[0].shape().rank(); ++d) inner *= c.out[0].shape().dim(d);
  }
  // Each element has one writer and a fixed order: pieces are ranges of segments, or of columns.
  template <class I>
  void run(void (*fold)(const SegmentPart&), const void* wide) const {
    const SegmentPart whole{c.in[0].data, c.in[1].data, c.out[0].data, inner, 0, count, 0, inner, 0, rows, wide};
    const I* const ids = c.in[1].as<const I>();
    if (sorted && rows >= 8) {
      const i64 bytes = std::max<i64>(1, count * inner * width / rows);
      return parallel_for(rows, std::max<i64>(1, copy_grain_bytes / bytes), [&](i64 b, i64 e) {
        SegmentPart p = whole;
        p.row = b, p.rows = e - b;
        p.first = std::lower_bound(ids, ids + count, static_cast<I>(b)) - ids;
        p.last = e == rows ? count : std::lower_bound(ids, ids + count, static_cast<I>(e)) - ids;
        fold(p);
      });
    }
    if (inner < 32) return fold(whole);
    const i64 blocks = (inner + 15) / 16;
    parallel_for(blocks, std::max<i64>(1, copy_grain_bytes / std::max<i64>(1, count * 16 * width)), [&](i64 b, i64 e) {
      SegmentPart p = whole;
      p.column = b * 16, p.columns = std::min(inner, e * 16);
      fold(p);
    });
  }
};

template <class I>
void check_segment_ids(const SegmentWork& s) {
  const Operand& idx = s.c.in[1];
  const I* const ids = idx.as<const I>();
  I before = s.sorted ? I(0) : std::numeric_limits<I>::lowest();
  for (i64 i = 0; i < s.count; ++i) {
    if (ids[i] >= s.rows && !s.sorted) raise_bad_index(s.c, idx, i, static_cast<i64>(ids[i]), 0, s.rows);
    if (!s.sorted) continue;
    if (ids[i] < before)
      errors::raise<errors::InvalidArgumentError>(
          s.c.op, "segment id " + std::to_string(ids[i]) + " at position " + position_text(idx.shape(), i) +
                      (ids[i] < 0 ? " is negative"
                                  : " follows a larger one; sort them, or use unsorted_" + std::string(s.c.op)));
    before = ids[i];
  }
}

template <SegmentFold F, class T, class I>
void fold_work(const SegmentWork& s) {
  T* const to = s.c.out[0].as<T>();
  const I* const ids = s.c.in[1].as<const I>();
  const WideRows<T> wide(
      s.rows, s.inner, F == SegmentFold::sum ? s.count : 0, [ids](i64 i) { return static_cast<i64>(ids[i]); },
      s.sorted);
  std::fill_n(to, s.rows * s.inner, segment_start<F, T>());
  s.run<I>(&fold_segments<F, T, I>, &wide);
  if constexpr (F == SegmentFold::max || F == SegmentFold::min) {
    const memory::Scratch room(static_cast<std::size_t>(s.rows));
    char* const seen = static_cast<char*>(room.data());
    if (s.rows) std::memset(seen, 0, static_cast<std::size_t>(s.rows));
    for (i64 i = 0; i < s.count; ++i)
      if (ids[i] >= 0) seen[ids[i]] = 1;
    for (i64 r = 0; r < s.rows; ++r)
      if (!seen[r]) std::fill_n(to + r * s.inner, s.inner, missing_segment<F, T>(s.sorted));
  }
}
template <SegmentFold F, class T>
void fold_as(const SegmentWork& s) {
  with_index_type(s.c.in[1], [&]<class I>(I*) {
    check_segment_ids<I>(s);
    fold_work<F, T, I>(s);
  });
}
TANDEM_INLINE void fold_rows(const SegmentWork& s, SegmentFold fold) {
  const DType d = s.c.out[0].spec->dtype;
  const auto sums = [&]<class T>(T*) {
    if constexpr (std::is_arithmetic_v<T>)
      fold == SegmentFold::sum ? fold_as<SegmentFold::sum, T>(s) : fold_as<SegmentFold::prod, T>(s);
  };
  if (fold == SegmentFold::sum || fold == SegmentFold::prod) return with_number_type(d, sums);
  with_ordered_type(d, [&]<class T>(T*) {
    fold == SegmentFold::max ? fold_as<SegmentFold::max, T>(s) : fold_as<SegmentFold::min, T>(s);
  });
}

}  // namespace detail

TANDEM_INLINE i64 segment_rows(const KernelCall& c) {
  const Operand& ids = c.in[1];
  const i64 n = ids.size();
  if (n == 0) return 0;
  const i64 last = ids.spec->dtype == DType::int64 ? ids.as<const i64>()[n - 1] : ids.as<const std::int32_t>()[n - 1];
  return last < 0 ? 0 : detail::rows_up_to(c, last);
}
TANDEM_INLINE void segment_fold(const KernelCall& c, SegmentFold fold) {
  detail::fold_rows(detail::SegmentWork(c, true), fold);
}
TANDEM_INLINE void unsorted_segment_fold(const KernelCall& c, SegmentFold fold) {
  detail::fold_rows(detail::SegmentWork(c, false), fold);
}
TANDEM_INLINE void segment_take(const KernelCall& c) {
  const Operand &x = c.in[0], &idx = c.in[1], &y = c.out[0];
  const i64 n = idx.size(), rows = x.shape().dim(0);
  detail::with_index_type(idx, [&]<class I>(I*) {
    const I* const ids = idx.as<const I>();
    for (i64 i = 0; i < n; ++i)
      if (ids[i] >= rows) detail::raise_bad_index(c, idx, i, static_cast<i64>(ids[i]), 0, rows);
    if (y.size() == 0) return;
    const std::size_t row = static_cast<std::size_t>(y.size() / n) * size_of(x.spec->dtype);
    parallel_for(n, copy_grain_bytes / static_cast<i64>(row) + 1, [&](i64 b, i64 e) {
      for (i64 i = b; i < e; ++i) {
        char* const to = y.as<char>() + static_cast<std::size_t>(i) * row;
        if (ids[i] < 0) std::memset(to, 0, row);
        else std::memcpy(to, x.as<char>() + static_cast<std::size_t>(ids[i]) * row, row);
      }
    });
  });
}

}  // namespace TANDEM_NS::cpu
