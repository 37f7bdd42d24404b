// Definitions of cpu/norm/batch_norm.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/cpu/norm/batch_norm.hpp"
#include "tandem/cpu/norm/kernels.hpp"
#include "tandem/cpu/parallel.hpp"
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
#define TANDEM_BATCH_NORM(SETS)                                                                    \
  static constexpr decltype(BatchNormKernels<T>::channel_dots) cd[] = SETS(channel_dots<T>);       \
  static constexpr decltype(BatchNormKernels<T>::segment_dots) sd[] = SETS(segment_dots<T>);       \
  static constexpr decltype(BatchNormKernels<T>::affine_rows) ar[] = SETS(affine_rows<T>);         \
  static constexpr decltype(BatchNormKernels<T>::affine_segments) as[] = SETS(affine_segments<T>); \
  return {cd[isa()], sd[isa()], ar[isa()], as[isa()]};
template <class T>
BatchNormKernels<T> batch_norm_kernels() {
  if constexpr (on_every_set<T>) {
    TANDEM_BATCH_NORM(TANDEM_EACH_ISA)
  } else {
    TANDEM_BATCH_NORM(TANDEM_LOWEST_ISA_ONLY)
  }
}
#undef TANDEM_BATCH_NORM

template <class T>
class BatchNorm {
 public:
  BatchNorm(const KernelCall& c, const Operand& x)
      : plan_(x.shape(), c.attrs.get<BatchNormAttrs>().axis),
        epsilon_(c.attrs.get<BatchNormAttrs>().epsilon),
        op_(c.op),
        x_(x.as<T>()),
        k_(batch_norm_kernels<T>()),
        sums_(static_cast<double*>(c.workspace)),
        first_(reinterpret_cast<T*>(sums_ + 2 * plan_.wide)),
        second_(first_ + plan_.parts * plan_.wide),
        params_(second_ + plan_.parts * plan_.wide) {}

  void forward(const T* scale, const T* offset, T* y, T* mean, T* variance) const {
    moments(mean, variance);
    for (i64 c = 0; c < plan_.channels; ++c) {
      const T factor = static_cast<T>(1 / std::sqrt(static_cast<double>(variance[c]) + epsilon_));
      set_params(c, mean[c], scale[c] * factor, offset[c], T(0));
    }
    affine(nullptr, y);
  }
  void backward(const T* g, const T* scale, const T* mean, const T* variance, T* dx, T* dscale, T* doffset) const {
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
  // Calls f(part, first row, rows) for chunks of rows.
  template <class F>
  void for_each_chunk(const F& f) const {
    parallel_for(plan_.parts, norm_grain / (plan_.chunk * plan_.channels) + 1, [&](i64 begin, i64 end) {
      for (i64 p = begin; p < end; ++p) f(p, p * plan_.chunk, plan_.count_of(p));
    });
  }
  template <class F>
  void for_segments(const F& f) const {
    parallel_for(plan_.outer * plan_.channels, norm_grain / plan_.inner + 1, f);
  }

  // The mean and the sum of squared deviations of each part, and from them those of all.
  void moments(T* mean, T* variance) const {
    const FoldKernel& sum = fold_kernel_of<Fold::sum>(dtype(), op_);
    const FoldKernel& squares = fold_kernel_of<Fold::sum_squared_difference>(dtype(), op_);
    const i64 n = plan_.channels;
    if (plan_.rows()) {
      for_each_chunk([&](i64 p, i64 row, i64 rows) {
        T *const m = first_ + p * n, *const s = second_ + p * n;
        std::fill(m, m + n, T(0));
        std::fill(s, s + n, T(0));
        sum.columns(x_ + row * n, rows, n, n, nullptr, m);
        for (i64 c = 0; c < n; ++c) m[c] /= static_cast<T>(rows);
        squares.columns(x_ + row * n, rows, n, n, m, s);
      });
    } else {
      for_segments([&](i64 begin, i64 end) {
        const T* const at = x_ + begin * plan_.inner;
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
  void dots(const T* g, const T* mean) const {
    const i64 n = plan_.channels;
    if (plan_.rows()) {
      for_each_chunk([&](i64 p, i64 row, i64 rows) {
        k_.channel_dots(g + row * n, x_ + row * n, mean, rows, n, first_ + p * n, second_ + p * n);
      });
    } else {
      for_segments([&](i64 begin, i64 end) {
        const i64 at = begin * plan_.inner;
        k_.segment_dots(g + at, x_ + at, mean, begin % n, n, end - begin, plan_.inner, first_ + begin, second_ + begin);
      });
    }
  }
  void affine(const T* g, T* y) const {
    const i64 n = plan_.channels;
    const void* const p[] = {params_, params_ + plan_.wide, params_ + 2 * plan_.wide, params_ + 3 * plan_.wide};
    if (plan_.rows()) {
      for_each_chunk([&](i64, i64 row, i64 rows) {
        const i64 whole = rows / plan_.repeat, done = whole * plan_.repeat, rest = (row + done) * n;
        k_.affine_rows(g ? g + row * n : nullptr, x_ + row * n, p, whole, plan_.wide, y + row * n);
        k_.affine_rows(g ? g + rest : nullptr, x_ + rest, p, rows - done, n, y + rest);
      });
    } else {
      for_segments([&](i64 begin, i64 end) {
        const i64 at = begin * plan_.inner;
        k_.affine_segments(g ? g + at : nullptr, x_ + at, p, begin % n, n, end - begin, plan_.inner, y + at);
      });
    }
  }
  static constexpr DType dtype() { return sizeof(T) == 8 ? DType::float64 : DType::float32; }

  const ChannelPlan plan_;
  const double epsilon_;
  const char* const op_;
  const T* const x_;
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
  BatchNorm<T>(c, c.in[0]).forward(c.in[1].as<T>(), c.in[2].as<T>(), c.out[0].as<T>(), mean, variance);
}
template <class T>
void batch_norm_grad_of(const KernelCall& c) {
  T *const dscale = c.out[1].as<T>(), *const doffset = c.out[2].as<T>();
  if (c.in[1].size() == 0) {
    std::fill_n(dscale, c.out[1].size(), T(0));
    std::fill_n(doffset, c.out[2].size(), T(0));
    return;
  }
  BatchNorm<T>(c, c.in[1])
      .backward(c.in[0].as<T>(), c.in[2].as<T>(), c.in[3].as<T>(), c.in[4].as<T>(), c.out[0].as<T>(), dscale, doffset);
}

}  // namespace detail

TANDEM_INLINE std::size_t batch_norm_workspace(const Spec& x, const BatchNormAttrs& a) {
  return x.shape.size() == 0 ? 0 : detail::ChannelPlan(x.shape, a.axis).bytes(size_of(x.dtype));
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
