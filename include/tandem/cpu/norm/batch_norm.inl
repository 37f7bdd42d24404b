// Definitions of cpu/norm/batch_norm.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "tandem/cpu/norm/batch_norm.hpp"
#include "tandem/cpu/norm/kernels.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"
#include "tandem/cpu/reduce/engine.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// x as [outer, channels, inner]. With inner == 1 it is rows of channels, divided into chunks of rows; a few narrow rows
// together are one wide row. Otherwise it is segments of one channel each. Either way the sums of the parts (chunks, or
// the segments of one outer index) are combined in order, so that results depend on the shape only.
struct ChannelPlan {
  i64 outer = 1, channels, inner = 1;
  i64 repeat = 1, wide, chunk = 1, parts;  // rows: narrow rows per wide one, its width, rows per chunk

  ChannelPlan(const Shape& s, i64 axis) {
    const int at = static_cast<int>(axis < 0 ? axis + s.rank() : axis);
    for (int d = 0; d < at; ++d) outer *= s.dim(d);
    channels = s.dim(at);
    for (int d = at + 1; d < s.rank(); ++d) inner *= s.dim(d);
    const i64 width = std::max<i64>(channels, 1);
    if (rows()) {
      repeat = std::min<i64>((64 + width - 1) / width, 64);
      chunk = (std::max<i64>(16, 16384 / width) + repeat - 1) / repeat * repeat;
    }
    wide = repeat * width;
    parts = (outer + chunk - 1) / chunk;
  }
  bool rows() const { return inner == 1; }
  i64 count() const { return outer * inner; }  // of each channel
  i64 count_of(i64 part) const { return rows() ? std::min(chunk, outer - part * chunk) : inner; }
  std::size_t bytes(std::size_t width) const {
    const i64 numbers = (2 * parts + 4) * wide, sums = 2 * wide;
    return static_cast<std::size_t>(numbers) * width + static_cast<std::size_t>(sums) * sizeof(double) + 64;
  }
};

template <class T>
struct BatchNormKernels {
  void (*channel_dots)(const void*, const void*, const void*, i64, i64, void*, void*);
  void (*segment_dots)(const void*, const void*, const void*, i64, i64, i64, i64, void*, void*);
  void (*affine_rows)(const void*, const void*, const void* const*, i64, i64, void*);
  void (*affine_segments)(const void*, const void*, const void* const*, i64, i64, i64, i64, void*);
};
template <class T>
BatchNormKernels<T> batch_norm_kernels() {
  static constexpr auto by_channel = TANDEM_SETS_OF(T, channel_dots<T>);
  static constexpr auto by_segment = TANDEM_SETS_OF(T, segment_dots<T>);
  static constexpr auto rows = TANDEM_SETS_OF(T, affine_rows<T>);
  static constexpr auto segments = TANDEM_SETS_OF(T, affine_segments<T>);
  return {by_channel.get(), by_segment.get(), rows.get(), segments.get()};
}

/// A part of x, g and y as numbers of T: in place, or float32 copies of half precision.
template <class T>
class BatchTile {
 public:
  /// dtype: that of x; `numbers`: of one operand, at most.
  BatchTile(DType dtype, i64 numbers) {
    if constexpr (takes_half)
      if (dtypes::half_floating.has(dtype)) half_.emplace(dtype, 3 * numbers);
  }
  const T* read(const void* x, i64 at, i64 n) {
    if constexpr (takes_half)
      if (half_ && x) return half_->widen(static_cast<const std::uint16_t*>(x) + at, n, 1, n);
    return x ? static_cast<const T*>(x) + at : nullptr;
  }
  /// Where results are computed, until write() stores them.
  T* room(void* y, i64 at, i64 n) {
    if constexpr (takes_half)
      if (half_) return half_->room(n);
    return static_cast<T*>(y) + at;
  }
  void write(const T* from, void* y, i64 at, i64 n) {
    if constexpr (takes_half) {
      if (half_) half_->round(from, static_cast<std::uint16_t*>(y) + at, n, 1, n), half_->clear();
    } else {
      (void)from, (void)y, (void)at, (void)n;
    }
  }
  void clear() {
    if constexpr (takes_half)
      if (half_) half_->clear();
  }

 private:
  static constexpr bool takes_half = kernels_take_half && std::is_same_v<T, float>;
  std::optional<HalfTile> half_;
};
/// The scale, the offset and their gradients likewise.
template <class T>
class BatchVectors {
 public:
  explicit BatchVectors(const Operand& scale) : n_(scale.size()), tile_(scale.spec->dtype, n_) {}
  const T* read(const Operand& x) { return tile_.read(x.data, 0, n_); }
  T* room(const Operand& y) { return tile_.room(y.data, 0, n_); }
  void write(const T* from, const Operand& y) { tile_.write(from, y.data, 0, n_); }

 private:
  const i64 n_;
  BatchTile<T> tile_;
};

template <class T>
class BatchNorm {
 public:
  BatchNorm(const KernelCall& c, const Operand& x)
      : plan_(x.shape(), c.attrs.get<rules::BatchNormAttrs>().axis),
        epsilon_(c.attrs.get<rules::BatchNormAttrs>().epsilon),
        op_(c.op),
        stored_(x.spec->dtype),
        x_(x.data),
        k_(batch_norm_kernels<T>()),
        sums_(static_cast<double*>(c.workspace)),
        first_(reinterpret_cast<T*>(sums_ + 2 * plan_.wide)),
        second_(first_ + plan_.parts * plan_.wide),
        params_(second_ + plan_.parts * plan_.wide) {}

  void forward(const T* scale, const T* offset, void* y, T* mean, T* variance) const {
    moments(mean, variance);
    for (i64 c = 0; c < plan_.channels; ++c) {
      const T factor = static_cast<T>(1 / std::sqrt(static_cast<double>(variance[c]) + epsilon_));
      set_params(c, mean[c], scale[c] * factor, offset[c], T(0));
    }
    affine(nullptr, y);
  }
  void backward(const void* g, const T* scale, const T* mean, const T* variance, void* dx, T* dscale,
                T* doffset) const {
    dots(g, mean);
    const i64 channels = plan_.channels;
    const double n = static_cast<double>(plan_.count());
    std::fill(sums_, sums_ + 2 * channels, 0.0);
    for (i64 p = 0; p < plan_.parts; ++p)
      for (i64 c = 0; c < channels; ++c) {
        sums_[c] += static_cast<double>(first_[p * channels + c]);
        sums_[channels + c] += static_cast<double>(second_[p * channels + c]);
      }
    for (i64 c = 0; c < channels; ++c) {
      const double factor = 1 / std::sqrt(static_cast<double>(variance[c]) + epsilon_);
      const double a = static_cast<double>(scale[c]) * factor, dot = sums_[channels + c];
      doffset[c] = static_cast<T>(sums_[c]);
      dscale[c] = static_cast<T>(dot * factor);
      set_params(c, mean[c], static_cast<T>(-a * factor * factor * dot / n), static_cast<T>(-a * sums_[c] / n),
                 static_cast<T>(a));
    }
    affine(g, dx);
  }

 private:
  void set_params(i64 c, T mean, T a, T b, T d) const {
    for (i64 at = c; at < plan_.wide; at += plan_.channels) {
      params_[at] = mean, params_[plan_.wide + at] = a;
      params_[2 * plan_.wide + at] = b, params_[3 * plan_.wide + at] = d;
    }
  }
  // Calls f(tile, part, first row, rows) for chunks of rows.
  template <class F>
  void for_each_chunk(const F& f) const {
    parallel_for(plan_.parts, norm_grain / (plan_.chunk * plan_.channels) + 1, [&](i64 begin, i64 end) {
      BatchTile<T> tile(stored_, std::min(plan_.chunk, plan_.outer) * plan_.channels);
      for (i64 p = begin; p < end; ++p) f(tile, p, p * plan_.chunk, plan_.count_of(p)), tile.clear();
    });
  }
  // Calls f(tile, begin, end) for ranges of segments: of half precision a tile at a time.
  template <class F>
  void for_segments(const F& f) const {
    const bool half = dtypes::half_floating.has(stored_);
    const i64 most = half ? std::max<i64>(1, half_tile_numbers / plan_.inner) : plan_.outer * plan_.channels;
    parallel_for(plan_.outer * plan_.channels, norm_grain / plan_.inner + 1, [&](i64 begin, i64 end) {
      BatchTile<T> tile(stored_, most * plan_.inner);
      for (; begin < end; begin += most) f(tile, begin, std::min(end, begin + most)), tile.clear();
    });
  }

  // The mean and the sum of squared deviations of each part, and from them those of all.
  void moments(T* mean, T* variance) const {
    const FoldKernel& sum = fold_kernel_of<Fold::sum, &sum_of_inexact>(dtype(), op_);
    const FoldKernel& squares = fold_kernel_of<Fold::sum_squared_difference>(dtype(), op_);
    const i64 n = plan_.channels;
    if (plan_.rows()) {
      for_each_chunk([&](BatchTile<T>& tile, i64 p, i64 row, i64 rows) {
        T *const m = first_ + p * n, *const s = second_ + p * n;
        const T* const x = tile.read(x_, row * n, rows * n);
        std::fill(m, m + n, T(0));
        std::fill(s, s + n, T(0));
        sum.columns(x, rows, n, n, nullptr, m);
        for (i64 c = 0; c < n; ++c) m[c] /= static_cast<T>(rows);
        squares.columns(x, rows, n, n, m, s);
      });
    } else {
      for_segments([&](BatchTile<T>& tile, i64 begin, i64 end) {
        const T* const at = tile.read(x_, begin * plan_.inner, (end - begin) * plan_.inner);
        sum.segments(at, end - begin, plan_.inner, plan_.inner, nullptr, first_ + begin);
        for (i64 s = begin; s < end; ++s) first_[s] /= static_cast<T>(plan_.inner);
        squares.segments(at, end - begin, plan_.inner, plan_.inner, first_ + begin, second_ + begin);
      });
    }
    combine(mean, variance);
  }
  // Chan, Golub and LeVeque 1983, for all parts at once.
  void combine(T* mean, T* variance) const {
    const i64 n = plan_.channels;
    const double count = static_cast<double>(plan_.count());
    std::fill(sums_, sums_ + 2 * n, 0.0);
    for (i64 p = 0; p < plan_.parts; ++p) {
      const double of_part = static_cast<double>(plan_.count_of(p));
      for (i64 c = 0; c < n; ++c) sums_[c] += of_part * static_cast<double>(first_[p * n + c]);
    }
    for (i64 c = 0; c < n; ++c) sums_[c] /= count;
    for (i64 p = 0; p < plan_.parts; ++p) {
      const double of_part = static_cast<double>(plan_.count_of(p));
      for (i64 c = 0; c < n; ++c) {
        const double d = static_cast<double>(first_[p * n + c]) - sums_[c];
        sums_[n + c] += static_cast<double>(second_[p * n + c]) + of_part * d * d;
      }
    }
    for (i64 c = 0; c < n; ++c) {
      mean[c] = static_cast<T>(sums_[c]);
      variance[c] = static_cast<T>(sums_[n + c] / count);
    }
  }
  // The sums of g and of g (x - mean) of each part.
  void dots(const void* g, const T* mean) const {
    const i64 n = plan_.channels;
    if (plan_.rows()) {
      for_each_chunk([&](BatchTile<T>& tile, i64 p, i64 row, i64 rows) {
        const T *const up = tile.read(g, row * n, rows * n), *const x = tile.read(x_, row * n, rows * n);
        k_.channel_dots(up, x, mean, rows, n, first_ + p * n, second_ + p * n);
      });
    } else {
      for_segments([&](BatchTile<T>& tile, i64 begin, i64 end) {
        const i64 at = begin * plan_.inner, numbers = (end - begin) * plan_.inner;
        const T *const up = tile.read(g, at, numbers), *const x = tile.read(x_, at, numbers);
        k_.segment_dots(up, x, mean, begin % n, n, end - begin, plan_.inner, first_ + begin, second_ + begin);
      });
    }
  }
  void affine(const void* g, void* y) const {
    const i64 n = plan_.channels;
    const void* const p[] = {params_, params_ + plan_.wide, params_ + 2 * plan_.wide, params_ + 3 * plan_.wide};
    if (plan_.rows()) {
      for_each_chunk([&](BatchTile<T>& tile, i64, i64 row, i64 rows) {
        const i64 at = row * n, numbers = rows * n, whole = rows / plan_.repeat, rest = whole * plan_.wide;
        const T *const up = tile.read(g, at, numbers), *const x = tile.read(x_, at, numbers);
        T* const to = tile.room(y, at, numbers);
        k_.affine_rows(up, x, p, whole, plan_.wide, to);
        k_.affine_rows(up ? up + rest : nullptr, x + rest, p, rows - whole * plan_.repeat, n, to + rest);
        tile.write(to, y, at, numbers);
      });
    } else {
      for_segments([&](BatchTile<T>& tile, i64 begin, i64 end) {
        const i64 at = begin * plan_.inner, numbers = (end - begin) * plan_.inner;
        const T *const up = tile.read(g, at, numbers), *const x = tile.read(x_, at, numbers);
        T* const to = tile.room(y, at, numbers);
        k_.affine_segments(up, x, p, begin % n, n, end - begin, plan_.inner, to);
        tile.write(to, y, at, numbers);
      });
    }
  }
  static constexpr DType dtype() { return sizeof(T) == 8 ? DType::float64 : DType::float32; }

  const ChannelPlan plan_;
  const double epsilon_;
  const char* const op_;
  const DType stored_;
  const void* const x_;
  const BatchNormKernels<T> k_;
  double* const sums_;
  T *const first_, *const second_, *const params_;
};

template <class T>
void batch_norm_of(const KernelCall& c) {
  T *const mean = c.out[1].as<T>(), *const variance = c.out[2].as<T>();
  if (c.in[0].size() == 0) {
    std::fill_n(mean, c.out[1].size(), std::numeric_limits<T>::quiet_NaN());
    std::fill_n(variance, c.out[2].size(), std::numeric_limits<T>::quiet_NaN());
    return;
  }
  BatchVectors<T> vectors(c.in[1]);
  const T *const scale = vectors.read(c.in[1]), *const offset = vectors.read(c.in[2]);
  BatchNorm<T>(c, c.in[0]).forward(scale, offset, c.out[0].data, mean, variance);
}
template <class T>
void batch_norm_grad_of(const KernelCall& c) {
  if (c.in[1].size() == 0) {
    for (const std::size_t i : {1u, 2u}) std::memset(c.out[i].data, 0, c.out[i].spec->bytes());
    return;
  }
  BatchVectors<T> vectors(c.in[2]);
  const T* const scale = vectors.read(c.in[2]);
  T *const dscale = vectors.room(c.out[1]), *const doffset = vectors.room(c.out[2]);
  BatchNorm<T>(c, c.in[1])
      .backward(c.in[0].data, scale, c.in[3].as<T>(), c.in[4].as<T>(), c.out[0].data, dscale, doffset);
  vectors.write(dscale, c.out[1]);
  vectors.write(doffset, c.out[2]);
}

}  // namespace detail

TANDEM_INLINE std::size_t batch_norm_workspace(const Spec& x, const rules::BatchNormAttrs& a) {
  return x.shape.size() == 0 ? 0
                             : detail::ChannelPlan(x.shape, a.axis).bytes(std::max(size_of(x.dtype), sizeof(float)));
}
TANDEM_INLINE void batch_norm(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::batch_norm_of<double>(c);
  else detail::batch_norm_of<float>(c);
}
TANDEM_INLINE void batch_norm_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::batch_norm_grad_of<double>(c);
  else detail::batch_norm_grad_of<float>(c);
}

}  // namespace TANDEM_NS::cpu
