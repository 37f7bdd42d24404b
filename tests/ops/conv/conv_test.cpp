// Convolutions against loops: paddings, strides, dilations, groups, layouts, both precisions and every instruction set;
// the exact arrays of the specification. Not here: edge cases and errors (conv_edge_test.cpp), gradients by differences
// (conv_gradient_test.cpp), transposed convolutions.
#include "tandem/ops/conv/conv.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tests/ops/conv/conv_loops.hpp"

namespace conv_test {
using namespace tandem;
using conv_loops::Axis;
using conv_loops::check_close;
using conv_loops::each_product;
using conv_loops::numbers;
using conv_loops::wave;

struct Case {
  std::vector<Axis> axes;
  i64 batch, channels, in, out;
};
Shape image(const Case& c) {
  Shape s{c.batch};
  for (const Axis& a : c.axes) s.push_back(a.in);
  s.push_back(c.channels);
  return s;
}
Shape filter(const Case& c) {
  Shape s;
  for (const Axis& a : c.axes) s.push_back(a.window);
  s.push_back(c.in), s.push_back(c.out);
  return s;
}
nn::ConvOptions options(const Case& c) {
  std::vector<i64> strides, dilations;
  std::vector<std::pair<i64, i64>> pads;
  for (const Axis& a : c.axes) {
    strides.push_back(a.stride), dilations.push_back(a.dilation);
    pads.emplace_back(a.before, a.after);
  }
  return {.strides = strides, .padding = c.axes[0].same ? Padding::same : Padding(pads), .dilations = dilations};
}
// The convolution, its input gradient and its filter gradient.
void check(const Case& c, DType dtype, double tolerance) {
  const Tensor x = wave(image(c), .3, dtype), w = wave(filter(c), 1, dtype);
  GradientTape tape;
  tape.watch(x);
  tape.watch(w);
  const Tensor y = nn::convolution(x, w, options(c));
  const Tensor g = wave(y.shape(), 2, dtype);
  const auto d = tape.gradient(y, std::vector<Tensor>{x, w}, {.output_gradients = {g}});
  const auto vx = numbers(x), vw = numbers(w), vg = numbers(g);
  std::vector<double> want_y(static_cast<std::size_t>(y.size())), want_x(vx.size()), want_w(vw.size());
  each_product(c.batch, c.axes, c.channels, c.in, c.out, [&](i64 at_y, i64 at_x, i64 at_w) {
    const auto i = static_cast<std::size_t>(at_y), j = static_cast<std::size_t>(at_x),
               k = static_cast<std::size_t>(at_w);
    want_y[i] += vx[j] * vw[k];
    want_x[j] += vg[i] * vw[k];
    want_w[k] += vg[i] * vx[j];
  });
  INFO(to_string(x.spec()) << " * " << to_string(w.spec()) << " -> " << to_string(y.spec()) << " stride "
                           << c.axes.back().stride << " dilation " << c.axes.back().dilation);
  check_close(y, want_y, tolerance);
  check_close(d[0], want_x, tolerance);
  check_close(d[1], want_w, tolerance);
}

std::vector<Case> cases() {
  std::vector<Case> r;
  const auto add = [&](std::vector<Axis> axes, i64 batch, i64 channels, i64 in, i64 out) {
    r.push_back({std::move(axes), batch, channels, in, out});
  };
  for (bool same : {false, true})
    for (i64 stride : {1, 2, 3})
      for (i64 dilation : {1, 2})
        add({{9, 3, stride, dilation, 0, 0, same}, {11, 2, stride, dilation, 0, 0, same}}, 2, 3, 3, 5);
  add({{6, 3, 1, 1, 0, 0, true}, {30, 3, 1, 1, 0, 0, true}}, 2, 16, 16, 40);  // several tiles and panels
  add({{5, 5, 1, 1, 0, 0, true}, {29, 5, 1, 1, 0, 0, true}}, 3, 1, 1, 32);    // one channel
  add({{7, 3, 2, 1, 1, 0}, {6, 4, 3, 1, 2, 3}}, 2, 4, 4, 6);                  // explicit padding
  add({{4, 1, 1, 1}, {5, 1, 1, 1}}, 2, 7, 7, 9);                              // a matrix product
  add({{4, 1, 2, 1}, {5, 1, 3, 1}}, 2, 7, 7, 9);                              // stride > window
  add({{3, 2, 5, 1, 0, 0, true}, {2, 1, 4, 1, 0, 0, true}}, 1, 2, 2, 3);      // stride > image
  add({{4, 3, 1, 4, 0, 0, true}, {3, 3, 2, 5, 0, 0, true}}, 1, 2, 2, 3);      // dilation > image
  add({{6, 3, 1, 1, 0, 0, true}, {7, 3, 2, 1, 0, 0, true}}, 2, 6, 2, 9);      // three groups
  add({{6, 3, 2, 1, 0, 0, true}, {12, 3, 1, 2, 0, 0, true}}, 2, 19, 1, 19);   // depthwise
  add({{6, 3, 1, 1}, {9, 5, 1, 1}}, 2, 5, 1, 15);                             // depthwise, three results each
  add({{8, 4, 2, 1, 0, 0, true}, {8, 4, 2, 1, 0, 0, true}}, 1, 16, 1, 32);
  add({{17, 4, 2, 1, 0, 0, true}}, 3, 5, 5, 4);  // one axis
  add({{40, 3, 1, 3}}, 2, 6, 6, 33);
  add({{1300, 3, 1, 1, 0, 0, true}}, 1, 5, 5, 7);  // filter gradients add up long rows in parts
  add({{2, 2, 1, 1, 0, 0, true}, {1100, 4, 2, 1, 0, 0, true}}, 2, 6, 1, 6);
  add({{2, 2, 1, 1}, {600, 2, 1, 1}}, 1, 40, 40, 3);
  add({{5, 2, 1, 1, 0, 0, true}, {6, 3, 2, 1, 0, 0, true}, {7, 3, 1, 1, 0, 0, true}}, 2, 3, 3, 4);  // three axes
  add({{4, 2, 2, 1}, {5, 2, 1, 2}, {6, 3, 2, 1}}, 1, 4, 2, 6);
  add({{3, 3, 1, 1}, {3, 3, 1, 1}}, 5, 4, 4, 2);                           // a single result
  add({{4, 3, 1, 1, 0, 0, true}, {75, 3, 1, 1, 0, 0, true}}, 2, 7, 7, 1);  // few results for each pixel
  add({{3, 2, 1, 1}, {90, 3, 2, 1}}, 2, 18, 18, 2);
  add({{3, 2, 2, 1, 0, 0, true}, {21, 4, 3, 2, 0, 0, true}}, 1, 1, 1, 3);
  add({{3, 3, 1, 1, 0, 0, true}, {60, 5, 1, 1, 0, 0, true}}, 1, 33, 33, 4);
  add({{3, 3, 1, 1, 0, 0, true}, {4, 3, 1, 1, 0, 0, true}}, 2, 600, 600, 3);  // several blocks of the sum
  // Taps that read only padding, at both ends of an axis and everywhere.
  add({{4, 5, 1, 3, 0, 0, true}, {5, 5, 1, 4, 0, 0, true}}, 2, 3, 3, 9);
  add({{4, 5, 2, 3, 0, 0, true}, {7, 3, 1, 1, 0, 0, true}}, 2, 3, 3, 2);
  add({{4, 5, 1, 3, 0, 0, true}, {5, 7, 1, 2, 0, 0, true}}, 2, 6, 1, 12);
  add({{4, 3, 1, (1 << 29) - 1, 0, 0, true}, {5, 3, 1, 1 << 29, 0, 0, true}}, 1, 16, 16, 5);
  add({{1, 2, 1, (1 << 29) - 1, 0, 0, true}, {1, 2, 1, (1 << 29) - 1, 0, 0, true}}, 1, 16, 16, 5);
  add({{40, 2, 17, 1, 0, 0, true}, {50, 3, 16, 2, 0, 0, true}}, 1, 2, 2, 3);  // most pixels are not read
  return r;
}

TEST_CASE("conv: a large filter's gradient is divided by its segments too") {
  for (const int threads : {1, 3}) {
    config::set_intra_op_parallelism_threads(threads);
    check({{{10, 3}, {10, 3}}, 1, 128, 128, 160}, float32, 1e-5);
  }
  config::set_intra_op_parallelism_threads(0);
}

TEST_CASE("conv: values and gradients agree with loops on every instruction set") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const Case& c : cases()) {
      check(c, float32, c.in > 100 ? 1e-5 : 3e-6);  // sums of 5400 products round more often
      check(c, float64, 1e-14);
    }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("conv: results do not depend on the number of threads") {
  const Case large{{{30, 3, 1, 1, 0, 0, true}, {28, 3, 1, 1, 0, 0, true}}, 4, 16, 16, 24};
  const Case deep{{{30, 3, 1, 1, 0, 0, true}, {28, 3, 1, 1, 0, 0, true}}, 4, 40, 1, 40};
  const Case heavy{
      {{9, 3, 1, 1, 0, 0, true}, {7, 3, 1, 1, 0, 0, true}}, 1, 96, 96, 192};  // a filter larger than the image
  for (const Case& c : {large, deep, heavy}) {
    std::vector<std::vector<float>> first;
    for (int threads : {1, 2, 3, 8}) {
      config::set_intra_op_parallelism_threads(threads);
      const Tensor x = wave(image(c), .3), w = wave(filter(c), 1);
      GradientTape tape;
      tape.watch(x);
      tape.watch(w);
      const Tensor y = nn::convolution(x, w, options(c));
      const auto d = tape.gradient(square(y), std::vector<Tensor>{x, w});
      const std::vector<std::vector<float>> all{y.to_vector<float>(), d[0].to_vector<float>(), d[1].to_vector<float>()};
      if (first.empty()) first = all;
      CHECK(first == all);
    }
  }
  config::set_intra_op_parallelism_threads(0);
}

TEST_CASE("conv2d: exact array 1") {
  const Tensor x = constant({{{{0.f}, {1.f}}, {{2.f}, {3.f}}}, {{{2.f}, {4.f}}, {{6.f}, {8.f}}}});
  const Tensor w = constant({1.f, 2.f}, {.shape = {1, 1, 1, 2}});
  const std::vector<float> want{0, 0, 1, 2, 2, 4, 3, 6, 2, 4, 4, 8, 6, 12, 8, 16};
  const Tensor y = nn::conv2d(x, w, {.strides = {1, 1, 1, 1}, .padding = Padding::valid});
  CHECK(y.shape() == Shape{2, 2, 2, 2});
  CHECK(y.to_vector<float>() == want);
  const Tensor first = nn::conv2d(transpose(x, {.perm = {0, 3, 1, 2}}), w, {.data_format = DataFormat::nchw});
  CHECK(first.shape() == Shape{2, 2, 2, 2});
  CHECK(transpose(first, {.perm = {0, 2, 3, 1}}).to_vector<float>() == want);
}

TEST_CASE("conv2d: exact array 2") {
  std::vector<float> x;
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c) x.push_back(static_cast<float>(c + 0.1 * r));
  const Tensor w = constant({0.f, .5f, 0.f, 0.f, 1.f, 0.f, 0.f, .5f, 0.f}, {.shape = {3, 3, 1, 1}});
  const Tensor y =
      nn::conv2d(constant(x, {.shape = {1, 6, 6, 1}}), w, {.strides = {1, 3, 3, 1}, .padding = Padding::same});
  CHECK(y.shape() == Shape{1, 2, 2, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{2.20000005f, 8.19999981f, 2.79999995f, 8.80000019f});
}

TEST_CASE("conv1d: examples") {
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f, 5.f}, {.shape = {1, 5, 1}});
  const Tensor w = constant({1.f, 0.f, -1.f}, {.shape = {3, 1, 1}});
  using Floats = std::vector<float>;
  CHECK(nn::conv1d(x, w).to_vector<float>() == Floats{-2, -2, -2});
  CHECK(nn::conv1d(x, w, {.stride = 1, .padding = Padding::same}).to_vector<float>() == Floats{-2, -2, -2, -2, 4});
  CHECK(nn::conv1d(x, w, {.dilations = 2}).to_vector<float>() == Floats{-4});
  const Tensor first = nn::conv1d(transpose(x, {.perm = {0, 2, 1}}), w, {.data_format = DataFormat::ncw});
  CHECK(first.shape() == Shape{1, 1, 3});
  CHECK(first.to_vector<float>() == Floats{-2, -2, -2});
}

TEST_CASE("conv: SAME pads the smaller half first") {
  const auto padding_of = [](i64 n, i64 k, i64 s) {  // the total, from the first and the last result on ones
    const Tensor x = ones({1, n, 1}), w = ones({k, 1, 1});
    const auto y = numbers(nn::conv1d(x, w, {.stride = s, .padding = Padding::same}));
    return 2 * k - static_cast<i64>(y.front() + y.back());
  };
  CHECK(padding_of(5, 2, 2) == 1);
  CHECK(padding_of(6, 3, 3) == 0);
  CHECK(padding_of(4, 3, 2) == 1);
  CHECK(padding_of(7, 3, 2) == 2);
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f}, {.shape = {1, 4, 1}}),
               w = constant({1.f, 10.f, 100.f}, {.shape = {3, 1, 1}});
  CHECK(nn::conv1d(x, w, {.stride = 2, .padding = Padding::same}).to_vector<float>() == std::vector<float>{321, 43});
  // Twice as much, VALID and SAME of five pixels under windows of two.
  const Tensor five = ones({1, 5, 1}), two = ones({2, 1, 1});
  CHECK(nn::conv1d(five, two, {.stride = 2}).shape() == Shape{1, 2, 1});
  CHECK(nn::conv1d(five, two, {.stride = 2, .padding = Padding::same}).shape() == Shape{1, 3, 1});
}

TEST_CASE("conv2d: the sizes of a small network") {
  const Tensor x = zeros({3, 250, 151, 1});
  const nn::ConvOptions two{.strides = 2, .padding = Padding::same};
  Tensor y = nn::conv2d(x, zeros({5, 5, 1, 32}), two);
  CHECK(y.shape() == Shape{3, 125, 76, 32});
  y = nn::max_pool(y, {.ksize = 2, .strides = 2, .padding = Padding::same});
  CHECK(y.shape() == Shape{3, 63, 38, 32});
  y = nn::conv2d(y, zeros({5, 5, 32, 64}), {.padding = Padding::same});
  CHECK(y.shape() == Shape{3, 63, 38, 64});
  y = nn::max_pool(y, {.ksize = 2, .strides = 2, .padding = Padding::same});
  CHECK(y.shape() == Shape{3, 32, 19, 64});
  CHECK(nn::flatten(y).shape() == Shape{3, 38912});
}

TEST_CASE("conv2d: a dilated filter equals one stuffed with zeros") {
  const Tensor x = wave({2, 9, 10, 3}, .5), w = wave({2, 3, 3, 4}, .2);
  std::vector<float> stuffed(3 * 5 * 3 * 4);
  const auto v = w.to_vector<float>();
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t c = 0; c < 12; ++c) stuffed[(2 * i * 5 + 2 * j) * 12 + c] = v[(i * 3 + j) * 12 + c];
  const Tensor dense = constant(stuffed, {.shape = {3, 5, 3, 4}});
  for (const Padding& p : {Padding::valid, Padding::same}) {
    const Tensor a = nn::conv2d(x, w, {.padding = p, .dilations = {1, 2, 2, 1}}),
                 b = nn::conv2d(x, dense, {.padding = p});
    CHECK(a.shape() == b.shape());
    check_close(a, numbers(b), 1e-6);
  }
}

TEST_CASE("conv: channels first equals channels last transposed") {
  const Tensor x = wave({2, 5, 8, 7}, .5), w = wave({3, 2, 5, 6}, .2);
  const Tensor first = nn::conv2d(
      x, w, {.strides = {1, 1, 2, 1}, .padding = {{0, 0}, {0, 0}, {1, 0}, {0, 1}}, .data_format = DataFormat::nchw});
  const Tensor last = nn::conv2d(transpose(x, {.perm = {0, 2, 3, 1}}), w,
                                 {.strides = {1, 2, 1, 1}, .padding = {{0, 0}, {1, 0}, {0, 1}, {0, 0}}});
  CHECK(first.shape() == Shape{2, 6, 4, 7});
  check_close(transpose(first, {.perm = {0, 2, 3, 1}}), numbers(last), 1e-5);
  const Tensor volume = wave({2, 3, 4, 5, 6}, .5), w3 = wave({2, 2, 2, 3, 4}, .1);
  const Tensor first3 = nn::conv3d(volume, w3, {.data_format = DataFormat::ncdhw});
  CHECK(first3.shape() == Shape{2, 4, 3, 4, 5});
  check_close(transpose(first3, {.perm = {0, 2, 3, 4, 1}}),
              numbers(nn::conv3d(transpose(volume, {.perm = {0, 2, 3, 4, 1}}), w3)), 1e-5);
}

TEST_CASE("conv2d: fixed kernels") {
  std::vector<float> picture;
  for (int r = 0; r < 4; ++r)
    for (float v : {0.f, 0.f, 9.f, 9.f}) picture.push_back(v);
  const Tensor x = constant(picture, {.shape = {1, 4, 4, 1}});
  const Tensor edge = constant({-1.f, -1.f, -1.f, -1.f, 8.f, -1.f, -1.f, -1.f, -1.f}, {.shape = {3, 3, 1, 1}});
  const Tensor sharpen = constant({0.f, -1.f, 0.f, -1.f, 5.f, -1.f, 0.f, -1.f, 0.f}, {.shape = {3, 3, 1, 1}});
  const auto row = [&](const Tensor& k) {
    const auto y = nn::conv2d(x, k, {.padding = Padding::same}).to_vector<float>();
    return std::vector<float>(y.begin() + 4, y.begin() + 8);
  };
  CHECK(row(edge) == std::vector<float>{0, -27, 27, 27});
  CHECK(row(sharpen) == std::vector<float>{0, -9, 18, 18});
  const Tensor flat = fill({1, 5, 5, 1}, 77.f);
  for (float v : nn::conv2d(flat, edge).to_vector<float>()) CHECK(v == 0);
  for (float v : nn::conv2d(flat, sharpen).to_vector<float>()) CHECK(v == 77);
  const auto clipped = minimum(nn::relu(nn::conv2d(flat, edge * 9 + sharpen * 9)), 255).to_vector<float>();
  CHECK(clipped == std::vector<float>(9, 255));
}

TEST_CASE("depthwise and separable convolutions") {
  const Tensor x = wave({2, 6, 7, 3}, .5, float64), d = wave({3, 2, 3, 2}, .1, float64),
               p = wave({1, 1, 6, 5}, .8, float64);
  const Tensor y = nn::depthwise_conv2d(x, d, {.strides = {1, 2, 2, 1}, .padding = Padding::same});
  CHECK(y.shape() == Shape{2, 3, 4, 6});
  const auto vx = numbers(x), vd = numbers(d), vy = numbers(y);
  const Axis a{6, 3, 2, 1, 0, 0, true}, b{7, 2, 2, 1, 0, 0, true};
  for (i64 n = 0, at = 0; n < 2; ++n)
    for (i64 i = 0; i < 3; ++i)
      for (i64 j = 0; j < 4; ++j)
        for (i64 k = 0; k < 3; ++k)
          for (i64 q = 0; q < 2; ++q, ++at) {
            double sum = 0;
            for (i64 r = 0; r < 3; ++r)
              for (i64 c = 0; c < 2; ++c)
                if (a.at(i, r) >= 0 && b.at(j, c) >= 0)
                  sum += vx[static_cast<std::size_t>(((n * 6 + a.at(i, r)) * 7 + b.at(j, c)) * 3 + k)] *
                         vd[static_cast<std::size_t>(((r * 2 + c) * 3 + k) * 2 + q)];
            CHECK(vy[static_cast<std::size_t>(at)] == Approx(sum).margin(1e-12));
          }
  const nn::ConvOptions o{.strides = {1, 2, 2, 1}, .padding = Padding::same};
  CHECK(numbers(nn::separable_conv2d(x, d, p, o)) == numbers(nn::conv2d(nn::depthwise_conv2d(x, d, o), p)));
  const Tensor first =
      nn::separable_conv2d(transpose(x, {.perm = {0, 3, 1, 2}}), d, p,
                           {.strides = {1, 1, 2, 2}, .padding = Padding::same, .data_format = DataFormat::nchw});
  check_close(transpose(first, {.perm = {0, 2, 3, 1}}), numbers(nn::separable_conv2d(x, d, p, o)), 1e-12);
}

}  // namespace conv_test
