// Convolutions on the device against the CPU's, of the sizes and dtypes that cuDNN computes where it is installed:
// images of few and of odd channels, groups, strides, dilations, asymmetric padding, one to three spatial axes. On the
// emulator, and without cuDNN, the same tests run on products.
#include <random>

#include "tandem/graph/trace/function.hpp"
#include "tests/cuda/device.hpp"

namespace cuda_conv_test {

using namespace tandem;
using namespace gpu_test;

struct Case {
  Shape x, w;
  nn::ConvOptions o;
};
std::vector<Case> cases() {
  std::vector<Case> r{{{2, 9, 8, 3}, {3, 3, 3, 5}, {}},
                      {{1, 7, 9, 1}, {3, 3, 1, 1}, {.padding = Padding::same}},
                      {{1, 8, 8, 8}, {3, 3, 8, 16}, {.strides = 2, .padding = Padding::same}},
                      {{2, 9, 8, 4}, {3, 2, 2, 6}, {.strides = 2, .padding = Padding::same}},
                      {{1, 7, 7, 16}, {3, 3, 4, 8}, {.padding = Padding::same}},
                      {{2, 10, 9, 8}, {3, 3, 8, 4}, {.padding = Padding::same, .dilations = 2}},
                      {{1, 6, 6, 2}, {5, 4, 2, 3}, {.strides = 2, .padding = {{3, 1}, {0, 4}}}},
                      {{2, 7, 7, 4}, {1, 1, 4, 6}, {.strides = 2}},
                      {{2, 5, 6, 8}, {1, 1, 8, 4}, {}},
                      {{2, 5, 6, 8}, {1, 1, 2, 12}, {}},
                      {{2, 5, 6, 3}, {2, 2, 1, 6}, {}},
                      {{2, 20, 3}, {4, 3, 7}, {.padding = Padding::same}},
                      {{2, 9, 9, 8}, {3, 3, 8, 8}, {.strides = 2, .padding = {{1, 1}, {1, 1}}}},
                      {{2, 8, 8, 16}, {3, 3, 4, 16}, {.padding = Padding::same}},
                      {{1, 4, 5, 4, 8}, {2, 3, 3, 8, 4}, {.strides = 2, .padding = Padding::same}}};
  if (emulator::barrier) return r;
  r.push_back({{8, 28, 28, 32}, {3, 3, 32, 64}, {.padding = Padding::same}});
  r.push_back({{4, 56, 55, 64}, {3, 3, 64, 128}, {.strides = 2, .padding = Padding::same}});
  r.push_back({{4, 112, 112, 3}, {7, 7, 3, 64}, {.strides = 2, .padding = Padding::same}});
  r.push_back({{2, 8, 14, 14, 16}, {3, 3, 3, 16, 32}, {.padding = Padding::same}});
  return r;
}

// The convolution and its gradients to image and filter, for a gradient of its result that is not constant.
std::vector<Tensor> products(const Case& k, const Tensor& x, const Tensor& w) {
  GradientTape tape;
  tape.watch(x), tape.watch(w);
  const Tensor y = nn::convolution(x, w, k.o);
  std::vector<Tensor> r = tape.gradient(y * reals(y.shape(), y.dtype(), 3).to(x.device()), {x, w});
  r.push_back(y);
  return r;
}
u64 by_cudnn() { return cuda::cudnn_convolutions ? cuda::cudnn_convolutions() : 0; }

TEST_CASE("CUDA conv: all three products of all dtypes, and the same bits again") {
  TANDEM_NEEDS_GPU;
  for (const Case& k : cases())
    for (const DType d : {float32, float64, float16, bfloat16}) {
      CAPTURE(to_string(k.x), to_string(k.w), name(d));
      const Tensor x = reals(k.x, d), w = reals(k.w, d, 2);
      const std::vector<Tensor> want = products(k, x, w), got = products(k, x.gpu(), w.gpu()),
                                again = products(k, x.gpu(), w.gpu());
      for (std::size_t i = 0; i < want.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i].device() == gpu);
        check_near(got[i], want[i], 1);
        CHECK(table_calls::same_bits(again[i], got[i]));
      }
    }
}

TEST_CASE("CUDA conv: windows of any size, stride, dilation and padding") {
  TANDEM_NEEDS_GPU;
  std::mt19937 numbers(1);
  const auto draw = [&](i64 least, i64 most) { return least + static_cast<i64>(numbers() % (most - least + 1)); };
  const int cases = emulator::barrier ? 8 : 60;
  for (int i = 0; i < cases; ++i) {
    const DType d = i % 3 == 0 ? float32 : i % 3 == 1 ? bfloat16 : float16;
    const i64 groups = i % 4 == 0 ? draw(2, 4) : 1, in = draw(1, 9), out = draw(1, 9);
    Shape x{draw(1, 3), draw(1, 16), draw(1, 16), groups * in}, w{draw(1, 5), draw(1, 5), in, groups * out};
    const Shape strides{draw(1, 4), draw(1, 4)}, dilations{draw(1, 3), draw(1, 3)};
    i64 pads[4];
    for (int axis = 0; axis < 2; ++axis) {
      pads[2 * axis] = draw(0, 6), pads[2 * axis + 1] = draw(0, 6);
      const i64 missing = (w[axis] - 1) * dilations[axis] + 1 - (x[1 + axis] + pads[2 * axis] + pads[2 * axis + 1]);
      pads[2 * axis] += std::max<i64>(missing, 0);
    }
    const Case k{x,
                 w,
                 {.strides = {strides[0], strides[1]},
                  .padding = {{pads[0], pads[1]}, {pads[2], pads[3]}},
                  .dilations = {dilations[0], dilations[1]}}};
    CAPTURE(to_string(x), to_string(w), name(d), to_string(strides), to_string(dilations), pads[0], pads[1], pads[2],
            pads[3]);
    const Tensor image = reals(x, d), filter = reals(w, d, 2);
    const std::vector<Tensor> want = products(k, image, filter), got = products(k, image.gpu(), filter.gpu());
    for (std::size_t j = 0; j < want.size(); ++j) {
      CAPTURE(j);
      check_near(got[j], want[j], 1);
    }
  }
}

TEST_CASE("CUDA conv: operands that begin anywhere in memory") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({3, 5, 5, 3}), w = reals({3, 3, 3, 4}, float32, 2), want = nn::conv2d(x, w), base = x.gpu();
  for (i64 i = 0; i < 3; ++i) check_near(nn::conv2d(expand_dims(base[i], 0), w.gpu()), expand_dims(want[i], 0), 1);
}

TEST_CASE("CUDA conv: a value that is not finite stays within the windows that read it") {
  TANDEM_NEEDS_GPU;
  Tensor x = zeros({1, 12, 12, 8});
  x = where(equal(reshape(range(x.size()), x.shape()), 4 * 12 * 8 + 5 * 8 + 3), std::nan(""), x);
  const Tensor w = reals({3, 3, 8, 8}), y = nn::conv2d(x.gpu(), w.gpu(), {.padding = Padding::same});
  check_near(cast(is_nan(y), int32), cast(is_nan(nn::conv2d(x, w, {.padding = Padding::same})), int32));
}

TEST_CASE("CUDA conv: traced, with its gradients") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float16}) {
    const Case k{{2, 8, 7, 4}, {3, 3, 4, 8}, {.strides = 2, .padding = {{1, 1}, {1, 1}}}};
    const Tensor x = reals(k.x, d), w = reals(k.w, d, 2), image_there = x.gpu(), filter_there = w.gpu();
    auto f = function([&](const Tensor& image, const Tensor& filter) { return products(k, image, filter); });
    const std::vector<Tensor> want = products(k, x, w), eager = products(k, image_there, filter_there);
    for (int run = 0; run < 3; ++run) {
      const std::vector<Tensor> got = f(image_there, filter_there);
      for (std::size_t i = 0; i < want.size(); ++i) {
        CAPTURE(name(d), run, i);
        check_near(got[i], want[i], 1);
        CHECK(table_calls::same_bits(got[i], eager[i]));
      }
    }
  }
}

TEST_CASE("CUDA conv: TF32 is for those who allow it") {
  TANDEM_NEEDS_GPU;
  const Case k{{2, 6, 6, 16}, {3, 3, 16, 8}, {.padding = Padding::same}};
  const Tensor x = reals(k.x), w = reals(k.w, float32, 2);
  const std::vector<Tensor> want = products(k, x, w), before = products(k, x.gpu(), w.gpu());
  cuda::allow_tf32(true);
  const std::vector<Tensor> rounded = products(k, x.gpu(), w.gpu());
  cuda::allow_tf32(false);
  const std::vector<Tensor> after = products(k, x.gpu(), w.gpu());
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    check_near(before[i], want[i], 1);
    CHECK(table_calls::same_bits(after[i], before[i]));
    CHECK(table_calls::relative_error(table_calls::as_doubles(rounded[i].cpu()), table_calls::as_doubles(want[i]), 1) <=
          5e-3);
  }
}

TEST_CASE("CUDA conv: what cuDNN computes, if it is there, and what it does not") {
  TANDEM_NEEDS_GPU;
  const auto used = [](const Shape& x, const Shape& w, DType d, nn::ConvOptions o = {}) {
    const u64 before = by_cudnn();
    (void)products({x, w, o}, reals(x, d).gpu(), reals(w, d).gpu());
    return by_cudnn() - before;
  };
  const u64 one = cuda::has_cudnn && cuda::has_cudnn();
  // In float32 all but filters.
  CHECK(used({1, 8, 8, 4}, {3, 3, 4, 4}, float32) == 2 * one);
  CHECK(used({1, 8, 8, 4}, {3, 3, 4, 4}, bfloat16) == 3 * one);
  CHECK(used({1, 8, 8, 4}, {3, 3, 4, 4}, float32, {.strides = 2, .padding = {{1, 1}, {1, 1}}}) == 2 * one);
  CHECK(used({1, 8, 8, 4}, {3, 3, 4, 4}, float32, {.strides = 2, .padding = {{0, 1}, {0, 1}}}) == one);
  CHECK(used({1, 8, 8, 3}, {3, 3, 3, 4}, float32) == 2 * one);  // the image's is one of the turned filter
  CHECK(used({1, 8, 8, 4}, {1, 1, 4, 4}, float32) == 0);        // a product
  CHECK(used({1, 8, 8, 4}, {3, 3, 1, 4}, float32) == 0);        // depthwise
  CHECK(used({1, 8, 8, 4}, {3, 3, 4, 4}, float64) == 0);
}

}  // namespace cuda_conv_test
