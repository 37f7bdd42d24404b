// The CUDA kernels of convolutions, of their gradients and of fused_conv, as products (cuBLASLt) with the columns of
// the image: for each pixel of the result what its window reads. Columns are made in parts of bounded size, and not at
// all where they would be the image itself. Depthwise convolutions, whose products are too small for that, and their
// input gradients have one thread for each element. Not here: the products (gemm.cpp), the epilogue's kernel
// (gemm_kernels.cu).
#include "cuda/conv/window.hpp"
#include "cuda/gemm/gemm.hpp"
#include "cuda/index_map.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The sizes of y = conv(x, w); channels are counted per group.
struct ConvSizes {
  i64 batch, groups, in, out;
  WindowAxis axis[3];

  ConvSizes(const rules::ConvAttrs& a, const Shape& x, const Shape& w) : batch(x.dim(0)), in(w.dim(-2)) {
    const WindowAxes axes(a, x, w.begin());
    for (int i = 0; i < 3; ++i) axis[i] = axes.axis[i];
    groups = x.dim(-1) / in;
    out = w.dim(-1) / groups;
  }
  bool depthwise() const { return in == 1 && groups > 1; }
  TANDEM_HD i64 taps() const { return axis[0].window * axis[1].window * axis[2].window; }
  TANDEM_HD i64 row() const { return taps() * in; }  // of the columns of one group
  TANDEM_HD i64 image_in() const { return axis[0].in * axis[1].in * axis[2].in; }
  TANDEM_HD i64 image_out() const { return axis[0].out * axis[1].out * axis[2].out; }
  i64 pixels_out() const { return batch * image_out(); }
  bool is_product() const {
    bool same = taps() == 1;
    for (const WindowAxis& a : axis) same = same && a.stride == 1 && a.before == 0 && a.in == a.out;
    return same;
  }
};

// How the number of an element of the columns [group, pixel, tap, channel] is divided.
struct ColumnIndex {
  FastDivisor channels, taps[3], pixels;
};

template <class T>
__global__ void __launch_bounds__(block_size)
    unfold_kernel(const T* x, T* columns, ConvSizes s, ColumnIndex by, i64 first, std::uint32_t total) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    std::uint32_t rest = i;
    const auto split = [&](const FastDivisor& d) {
      const std::uint32_t q = d.quotient(rest), r = rest - q * d.divisor;
      rest = q;
      return static_cast<i64>(r);
    };
    const i64 channel = split(by.channels);
    i64 tap[3];
    for (int d = 2; d >= 0; --d) tap[d] = split(by.taps[d]);
    const Pixel p = result_pixel(s.axis, first + split(by.pixels));
    bool inside = true;
    i64 pixel = p.image;
    for (int d = 0; d < 3; ++d) {
      const i64 at = position_of(s.axis[d], p.at[d], tap[d]);
      inside = inside && at >= 0;
      pixel = pixel * s.axis[d].in + at;
    }
    columns[i] = inside ? x[(pixel * s.groups + rest) * s.in + channel] : T(0);
  }
}
// dx = for each element of some images the sum of what was made of it in their columns.
template <class T>
__global__ void __launch_bounds__(block_size) fold_back_kernel(const T* columns, T* dx, ConvSizes s, i64 images) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, channels = s.groups * s.in;
  const i64 total = images * s.image_in() * channels, group_step = images * s.image_out() * s.row();
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 channel = i % channels;
    const Pixel p = input_pixel(s.axis, i / channels);
    const T* const from = columns + channel / s.in * group_step + p.image * s.image_out() * s.row() + channel % s.in;
    T sum(0);
    each_reader(s.axis, p, [&](i64 pixel, i64 tap) { sum += from[pixel * s.row() + tap * s.in]; });
    dx[i] = sum;
  }
}
// Pixels of one image: a part of its result, and those of its input that the part may have read.
struct PixelRange {
  i64 first, count;
};
// dx += the same for the input pixels `of` of one image, of the columns of a part of its result.
template <class T>
__global__ void __launch_bounds__(block_size)
    fold_part_back_kernel(const T* columns, T* dx, ConvSizes s, PixelRange of, PixelRange part) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, channels = s.groups * s.in, total = of.count * channels;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 channel = i % channels;
    const T* const from = columns + channel / s.in * part.count * s.row() + channel % s.in;
    T sum(0);
    each_reader(s.axis, input_pixel(s.axis, of.first + i / channels), [&](i64 pixel, i64 tap) {
      const i64 at = pixel - part.first;
      if (at >= 0 && at < part.count) sum += from[at * s.row() + tap * s.in];
    });
    dx[of.first * channels + i] += sum;
  }
}

template <class T>
__global__ void __launch_bounds__(block_size) depthwise_kernel(const T* x, const T* w, T* y, ConvSizes s, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, channels = s.groups * s.out;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 channel = i % channels;
    const Pixel p = result_pixel(s.axis, i / channels);
    const T* const from = x + p.image * s.image_in() * s.groups + channel / s.out;
    T sum(0);
    each_read(s.axis, p, [&](i64 pixel, i64 tap) { sum += from[pixel * s.groups] * w[tap * channels + channel]; });
    y[i] = sum;
  }
}
template <class T>
__global__ void __launch_bounds__(block_size)
    depthwise_back_kernel(const T* g, const T* w, T* dx, ConvSizes s, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, channels = s.groups * s.out;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 first = i % s.groups * s.out;
    const Pixel p = input_pixel(s.axis, i / s.groups);
    const T* const from = g + p.image * s.image_out() * channels + first;
    T sum(0);
    each_reader(s.axis, p, [&](i64 pixel, i64 tap) {
      for (i64 k = 0; k < s.out; ++k) sum += from[pixel * channels + k] * w[tap * channels + first + k];
    });
    dx[i] = sum;
  }
}

#ifdef TANDEM_CUDA_EMULATED
constexpr i64 column_budget = i64(1) << 10;  // so that tests reach several parts
#else
constexpr i64 column_budget = i64(1) << 25;  // numbers: enough for a product that fills the device
#endif

// How many of n pixels, or images, with columns of so many numbers each are processed at once.
i64 part_of(const KernelCall& c, i64 n, i64 numbers) {
  if (numbers > index_limit)
    errors::raise<errors::UnimplementedError>(
        c.op, "more than 2^31 - 1 elements are read for one part of the result on a GPU: " + to_string(*c.in[0].spec) +
                  " x " + to_string(*c.in[1].spec));
  return std::clamp<i64>(column_budget / std::max<i64>(numbers, 1), 1, std::max<i64>(n, 1));
}

/// The three products of a convolution, group by group in one batch.
template <class T>
class Convolution {
 public:
  Convolution(const KernelCall& c, const rules::ConvAttrs& a, const Shape& x, const Shape& w) : c_(c), s_(a, x, w) {}

  void forward(const T* x, const T* w, T* y) const {
    if (const i64 n = s_.pixels_out() * wide_out(); s_.depthwise())
      return launch(c_, &depthwise_kernel<T>, blocks_for(n), x, w, y, s_, n);
    for_columns(x, [&](const T* a, i64 lda, i64 step, i64 first, i64 count) {
      Product p = product(count, s_.out, s_.row());
      p.a = a, p.lda = lda, p.a_step = step;
      p.b = w, p.ldb = wide_out(), p.b_step = s_.out;
      p.c = y + first * wide_out(), p.ldc = wide_out(), p.c_step = s_.out;
      gemm(c_, p);
    });
  }
  void filter_gradient(const T* x, const T* g, T* dw) const {
    for_columns(x, [&](const T* a, i64 lda, i64 step, i64 first, i64 count) {
      Product p = product(s_.row(), s_.out, count);
      p.a = a, p.lda = lda, p.a_step = step, p.transpose_a = true;
      p.b = g + first * wide_out(), p.ldb = wide_out(), p.b_step = s_.out;
      p.c = dw, p.ldc = wide_out(), p.c_step = s_.out;
      p.accumulate = first > 0;
      gemm(c_, p);
    });
  }
  void backward(const T* g, const T* w, T* dx) const {
    if (const i64 n = s_.batch * s_.image_in() * wide_in(); s_.depthwise())
      return launch(c_, &depthwise_back_kernel<T>, blocks_for(n), g, w, dx, s_, n);
    if (s_.is_product()) return column_gradient(g, w, dx, s_.groups * s_.in, s_.in, s_.pixels_out());
    const i64 image = s_.image_out();
    if (s_.groups * s_.row() * image > column_budget) return backward_in_parts(g, w, dx);
    const i64 each = part_of(c_, s_.batch, s_.groups * s_.row() * image);
    const Scratch room(c_, bytes_of(each * image));
    for (i64 first = 0; first < s_.batch; first += each) {
      const i64 images = std::min(each, s_.batch - first), count = images * image, in = s_.image_in() * wide_in();
      column_gradient(g + first * image * wide_out(), w, room.as<T>(), s_.row(), count * s_.row(), count);
      launch(c_, &fold_back_kernel<T>, blocks_for(images * in), room.as<const T>(), dx + first * in, s_, images);
    }
  }

 private:
  i64 wide_in() const { return s_.groups * s_.in; }
  i64 wide_out() const { return s_.groups * s_.out; }
  std::size_t bytes_of(i64 pixels) const { return static_cast<std::size_t>(pixels * s_.groups * s_.row()) * sizeof(T); }
  Product product(i64 m, i64 n, i64 k) const {
    return {.dtype = dtype_of<T>(), .m = m, .n = n, .k = k, .count = s_.groups};
  }
  // The gradient of `count` pixels' columns, whose rows are ldc apart, groups `step`.
  void column_gradient(const T* g, const T* w, T* columns, i64 ldc, i64 step, i64 count) const {
    Product p = product(count, s_.row(), s_.out);
    p.a = g, p.lda = wide_out(), p.a_step = s_.out;
    p.b = w, p.ldb = wide_out(), p.b_step = s_.out, p.transpose_b = true;
    p.c = columns, p.ldc = ldc, p.c_step = step;
    gemm(c_, p);
  }
  // The same image by image, whose columns are too many for one product.
  void backward_in_parts(const T* g, const T* w, T* dx) const {
    const i64 image = s_.image_out(), each = part_of(c_, image, s_.groups * s_.row()), in = s_.image_in() * wide_in();
    const Scratch room(c_, bytes_of(each));
    fill_zero(c_, dx, static_cast<std::size_t>(s_.batch * in) * sizeof(T));
    for (i64 n = 0; n < s_.batch; ++n)
      for (i64 first = 0; first < image; first += each) {
        const i64 count = std::min(each, image - first);
        const PixelRange of = read_by(first, first + count - 1);
        column_gradient(g + (n * image + first) * wide_out(), w, room.as<T>(), s_.row(), count * s_.row(), count);
        if (of.count > 0)
          launch(c_, &fold_part_back_kernel<T>, blocks_for(of.count * wide_in()), room.as<const T>(), dx + n * in, s_,
                 of, PixelRange{first, count});
      }
  }
  // A range with all pixels of the input that the pixels `first` to `last` of the result read.
  PixelRange read_by(i64 first, i64 last) const {
    const Pixel from = result_pixel(s_.axis, first), to = result_pixel(s_.axis, last);
    i64 low = 0, high = 0;
    bool same = true;  // on the axes before; otherwise the part has all positions of this one
    for (int d = 0; d < 3; ++d) {
      const WindowAxis& a = s_.axis[d];
      const i64 begin = from.at[d] * a.stride - a.before,
                end = to.at[d] * a.stride - a.before + (a.window - 1) * a.dilation;
      low = low * a.in + (same ? std::clamp<i64>(begin, 0, a.in - 1) : 0);
      high = high * a.in + (same ? std::clamp<i64>(end, 0, a.in - 1) : a.in - 1);
      same = same && from.at[d] == to.at[d] && a.window == 1;
    }
    return {low, high - low + 1};
  }
  // Calls f(columns, numbers from row to row, from group to group, first pixel, pixels) for all pixels of the result.
  template <class F>
  void for_columns(const T* x, const F& f) const {
    const i64 n = s_.pixels_out(), numbers = s_.groups * s_.row();
    if (s_.is_product()) return f(x, wide_in(), s_.in, i64(0), n);
    const i64 each = part_of(c_, n, numbers);
    const Scratch room(c_, bytes_of(each));
    const auto divisor = [](i64 d) { return FastDivisor(static_cast<std::uint32_t>(d)); };
    for (i64 first = 0; first < n; first += each) {
      const i64 count = std::min(each, n - first), total = count * numbers;
      const ColumnIndex by{divisor(s_.in),
                           {divisor(s_.axis[0].window), divisor(s_.axis[1].window), divisor(s_.axis[2].window)},
                           divisor(count)};
      launch(c_, &unfold_kernel<T>, blocks_for(total), x, room.as<T>(), s_, by, first,
             static_cast<std::uint32_t>(total));
      f(room.as<const T>(), s_.row(), count * s_.row(), first, count);
    }
  }

  const KernelCall& c_;
  const ConvSizes s_;
};

// Calls f.operator()<T>(), or sets the result to zero if an operand has no elements.
template <class F>
void run(const KernelCall& c, const F& f) {
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  if (c.in[0].size() == 0 || c.in[1].size() == 0) return fill_zero(c, y.data, y.spec->bytes());
  with_dtype<dtypes::floating>(c, y.spec->dtype, f);
}
void convolve(const KernelCall& c, const rules::ConvAttrs& a) {
  const Operand &x = c.in[0], &w = c.in[1];
  run(c, [&]<class T>() {
    Convolution<T>(c, a, x.shape(), w.shape()).forward(x.as<const T>(), w.as<const T>(), c.out[0].as<T>());
  });
}

}  // namespace

void conv(const KernelCall& c) { convolve(c, c.attrs.get<rules::ConvAttrs>()); }
void fused_conv(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FusedConvAttrs>();
  convolve(c, a);
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  static_assert(enumerators<FusedActivation> == 4, "Finish has the same enumerators");
  const i64 channels = y.shape().dim(-1);
  const auto vector = [&](std::size_t i) { return c.in.size() > i ? c.in[i].data : nullptr; };
  finish_rows(c, y.spec->dtype, y.data, RowVectors{vector(2), vector(3), vector(4)}, y.size() / channels, channels,
              static_cast<Finish>(a.activation));
}
void conv_transpose(const KernelCall& c) {
  const Operand &g = c.in[0], &w = c.in[1], &dx = c.out[0];
  run(c, [&]<class T>() {
    Convolution<T>(c, c.attrs.get<rules::ConvAttrs>(), dx.shape(), w.shape())
        .backward(g.as<const T>(), w.as<const T>(), dx.as<T>());
  });
}
void conv_filter_grad(const KernelCall& c) {
  const Operand &x = c.in[0], &g = c.in[1], &dw = c.out[0];
  run(c, [&]<class T>() {
    Convolution<T>(c, c.attrs.get<rules::ConvAttrs>(), x.shape(), dw.shape())
        .filter_gradient(x.as<const T>(), g.as<const T>(), dw.as<T>());
  });
}

}  // namespace TANDEM_NS::cuda
