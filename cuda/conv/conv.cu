// The CUDA kernels of convolutions, of their gradients and of fused_conv. cuDNN computes those that are not the same as
// a product (cudnn.cpp). Products (cuBLASLt) compute the others, and what cuDNN does not, of the columns of the image:
// for each pixel of the result what its window reads. Columns are made in parts of bounded size, and not at all where
// they would be the image itself. Depthwise convolutions, whose products are too small for that, and their input
// gradients have one thread for each element. Half precision is summed in float32; a result is rounded once, and by an
// epilogue again. Not here: the products (gemm.cpp), the epilogue's kernel (gemm_kernels.cu).
#include "cuda/conv/cudnn.hpp"
#include "cuda/conv/window.hpp"
#include "cuda/gemm/gemm.hpp"
#include "cuda/index_map.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/pointwise/cast.hpp"

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
    const Pixel<i64> p = result_pixel(s.axis, first + split(by.pixels));
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
    const Pixel<i64> p = input_pixel(s.axis, i / channels);
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
    const Pixel<i64> p = result_pixel(s.axis, i / channels);
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
    const Pixel<i64> p = input_pixel(s.axis, i / s.groups);
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

/// The three products of a convolution with the columns of the image, group by group in one batch.
template <class T>
class Convolution {
 public:
  Convolution(const KernelCall& c, const ConvSizes& s) : c_(c), s_(s) {}

  void compute(ConvPart part, const ConvOperands& of) const {
    const auto x = static_cast<T*>(of.x), w = static_cast<T*>(of.w), y = static_cast<T*>(of.y);
    if (part == ConvPart::forward) forward(x, w, y);
    else if (part == ConvPart::input_gradient) backward(y, w, x);
    else filter_gradient(x, y, w);
  }

 private:
  void forward(const T* x, const T* w, T* y) const {
    if (const i64 n = s_.pixels_out() * wide_out(); s_.depthwise())
      return launch(c_, &depthwise_kernel<T>, blocks_for(n), x, w, y, s_, n);
    for_columns(x, [&](const T* columns, i64 first, i64 count) {
      Product p = product(count, s_.out, s_.row());
      p.a = columns, p.lda = s_.row(), p.a_step = count * s_.row();
      p.b = w, p.ldb = wide_out(), p.b_step = s_.out;
      p.c = y + first * wide_out(), p.ldc = wide_out(), p.c_step = s_.out;
      gemm(c_, p);
    });
  }
  void filter_gradient(const T* x, const T* g, T* dw) const {
    for_columns(x, [&](const T* columns, i64 first, i64 count) {
      Product p = product(s_.row(), s_.out, count);
      p.a = columns, p.lda = s_.row(), p.a_step = count * s_.row(), p.transpose_a = true;
      p.b = g + first * wide_out(), p.ldb = wide_out(), p.b_step = s_.out;
      p.c = dw, p.ldc = wide_out(), p.c_step = s_.out;
      p.accumulate = first > 0;
      gemm(c_, p);
    });
  }
  void backward(const T* g, const T* w, T* dx) const {
    if (const i64 n = s_.batch * s_.image_in() * wide_in(); s_.depthwise())
      return launch(c_, &depthwise_back_kernel<T>, blocks_for(n), g, w, dx, s_, n);
    const i64 image = s_.image_out();
    if (s_.groups * s_.row() * image > column_budget) return backward_in_parts(g, w, dx);
    const i64 each = part_of(c_, s_.batch, s_.groups * s_.row() * image);
    const Scratch room(c_, bytes_of(each * image));
    for (i64 first = 0; first < s_.batch; first += each) {
      const i64 images = std::min(each, s_.batch - first), count = images * image, in = s_.image_in() * wide_in();
      column_gradient(g + first * image * wide_out(), w, room.as<T>(), count);
      launch(c_, &fold_back_kernel<T>, blocks_for(images * in), room.as<const T>(), dx + first * in, s_, images);
    }
  }
  i64 wide_in() const { return s_.groups * s_.in; }
  i64 wide_out() const { return s_.groups * s_.out; }
  std::size_t bytes_of(i64 pixels) const { return static_cast<std::size_t>(pixels * s_.groups * s_.row()) * sizeof(T); }
  Product product(i64 m, i64 n, i64 k) const {
    return {.dtype = dtype_of<T>(), .m = m, .n = n, .k = k, .count = s_.groups};
  }
  // The gradient of `count` pixels' columns.
  void column_gradient(const T* g, const T* w, T* columns, i64 count) const {
    Product p = product(count, s_.row(), s_.out);
    p.a = g, p.lda = wide_out(), p.a_step = s_.out;
    p.b = w, p.ldb = wide_out(), p.b_step = s_.out, p.transpose_b = true;
    p.c = columns, p.ldc = s_.row(), p.c_step = count * s_.row();
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
        column_gradient(g + (n * image + first) * wide_out(), w, room.as<T>(), count);
        if (of.count > 0)
          launch(c_, &fold_part_back_kernel<T>, blocks_for(of.count * wide_in()), room.as<const T>(), dx + n * in, s_,
                 of, PixelRange{first, count});
      }
  }
  // A range with all pixels of the input that the pixels `first` to `last` of the result read.
  PixelRange read_by(i64 first, i64 last) const {
    const Pixel<i64> from = result_pixel(s_.axis, first), to = result_pixel(s_.axis, last);
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
  // Calls f(columns, first pixel, pixels) for all pixels of the result, in parts.
  template <class F>
  void for_columns(const T* x, const F& f) const {
    const i64 n = s_.pixels_out(), numbers = s_.groups * s_.row();
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
      f(room.as<const T>(), first, count);
    }
  }

  const KernelCall& c_;
  const ConvSizes s_;
};

// Computes a convolution that is a product with the image itself.
void compute_product(const KernelCall& c, const ConvSizes& s, DType dtype, ConvPart part, const ConvOperands& of) {
  const i64 pixels = s.pixels_out(), wide_in = s.groups * s.in, wide_out = s.groups * s.out;
  Product p{.dtype = dtype, .count = s.groups};
  if (part == ConvPart::forward) {
    p.m = pixels, p.n = s.out, p.k = s.in;
    p.a = of.x, p.lda = wide_in, p.a_step = s.in;
    p.b = of.w, p.ldb = wide_out, p.b_step = s.out;
    p.c = of.y, p.ldc = wide_out, p.c_step = s.out;
  } else if (part == ConvPart::input_gradient) {
    p.m = pixels, p.n = s.in, p.k = s.out;
    p.a = of.y, p.lda = wide_out, p.a_step = s.out;
    p.b = of.w, p.ldb = wide_out, p.b_step = s.out, p.transpose_b = true;
    p.c = of.x, p.ldc = wide_in, p.c_step = s.in;
  } else {
    p.m = s.in, p.n = s.out, p.k = pixels;
    p.a = of.x, p.lda = wide_in, p.a_step = s.in, p.transpose_a = true;
    p.b = of.y, p.ldb = wide_out, p.b_step = s.out;
    p.c = of.w, p.ldc = wide_out, p.c_step = s.out;
  }
  gemm(c, p);
}

// Computes in float32 what has operands of half precision.
void compute_widened(const KernelCall& c, const ConvSizes& s, DType dtype, ConvPart part, const ConvOperands& of) {
  const i64 x = s.batch * s.image_in() * s.groups * s.in, w = s.row() * s.groups * s.out,
            y = s.pixels_out() * s.groups * s.out;
  const auto bytes = [](i64 n) { return static_cast<std::size_t>(n) * sizeof(float); };
  const Scratch wide_x(c, bytes(x)), wide_w(c, bytes(w)), wide_y(c, bytes(y));
  const auto pass = [&](ConvPart result, void* narrow, const Scratch& wide, i64 n) {
    if (part != result) cast_elements(c, dtype, narrow, DType::float32, wide.as<void>(), n);
  };
  pass(ConvPart::input_gradient, of.x, wide_x, x);
  pass(ConvPart::filter_gradient, of.w, wide_w, w);
  pass(ConvPart::forward, of.y, wide_y, y);
  Convolution<float>(c, s).compute(part, {wide_x.as<void>(), wide_w.as<void>(), wide_y.as<void>()});
  const auto round = [&](const Scratch& wide, void* narrow, i64 n) {
    cast_elements(c, DType::float32, wide.as<void>(), dtype, narrow, n);
  };
  if (part == ConvPart::forward) round(wide_y, of.y, y);
  else if (part == ConvPart::input_gradient) round(wide_x, of.x, x);
  else round(wide_w, of.w, w);
}

// Computes `part`, or sets the result to zero if an operand has no elements.
void compute(const KernelCall& c, const rules::ConvAttrs& a, ConvPart part, const Operand& x, const Operand& w,
             const Operand& y) {
  const Operand& result = c.out[0];
  if (result.size() == 0) return;
  if (c.in[0].size() == 0 || c.in[1].size() == 0) return fill_zero(c, result.data, result.spec->bytes());
  const DType dtype = result.spec->dtype;
  const ConvSizes s(a, x.shape(), w.shape());
  const ConvOperands of{x.data, w.data, y.data};
  if (!s.depthwise()) {
    if (s.is_product()) return compute_product(c, s, dtype, part, of);
    const ConvProblem p{part, dtype, s.batch, s.groups, s.in, s.out, {s.axis[0], s.axis[1], s.axis[2]}};
    if (conv_by_cudnn(c, p, of)) return;
  }
  if (dtypes::half_floating.has(dtype)) return compute_widened(c, s, dtype, part, of);
  with_dtype<dtypes::floating>(c, dtype, [&]<class T>() { Convolution<T>(c, s).compute(part, of); });
}
void convolve(const KernelCall& c, const rules::ConvAttrs& a) {
  compute(c, a, ConvPart::forward, c.in[0], c.in[1], c.out[0]);
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
  compute(c, c.attrs.get<rules::ConvAttrs>(), ConvPart::input_gradient, c.out[0], c.in[1], c.in[0]);
}
void conv_filter_grad(const KernelCall& c) {
  compute(c, c.attrs.get<rules::ConvAttrs>(), ConvPart::filter_gradient, c.in[0], c.out[0], c.in[1]);
}

}  // namespace TANDEM_NS::cuda
