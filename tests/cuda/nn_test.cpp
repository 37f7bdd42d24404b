// Convolutions, pooling and normalizations on the device: groups, strides, padding, several parts of columns, long and
// short rows; the pass that fuses convolutions; a small network that is trained.
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/conv.hpp"
#include "tests/cuda/device.hpp"
#include "tests/support/graph_eval.hpp"

namespace cuda_nn_test {

using namespace tandem;
using namespace gpu_test;

// f's value and its gradients to all operands.
template <class F>
std::vector<Tensor> with_gradients(const F& f, std::vector<Tensor> x) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const Tensor y = f(x);
  for (const Tensor& g : tape.gradient(square(y), x)) x.push_back(g);
  x.push_back(y);
  return x;
}
template <class F>
void compare(const F& f, const std::vector<Tensor>& x) {
  std::vector<Tensor> on_gpu;
  for (const Tensor& t : x) on_gpu.push_back(t.gpu());
  const std::vector<Tensor> want = with_gradients(f, x), got = with_gradients(f, on_gpu);
  for (std::size_t i = x.size(); i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].device() == gpu);
    check_near(got[i], want[i], 1);
  }
}

TEST_CASE("CUDA nn: convolutions, their gradients, in groups and in parts") {
  TANDEM_NEEDS_GPU;
  struct Case {
    Shape x, w;
    nn::ConvOptions o;
  };
  const Case cases[] = {{{2, 9, 8, 3}, {3, 3, 3, 5}, {}},
                        {{3, 9, 8, 4}, {3, 2, 2, 6}, {.strides = 2, .padding = Padding::same}},
                        {{2, 11, 7, 6}, {3, 3, 1, 12}, {.padding = Padding::same, .dilations = 2}},
                        {{2, 5, 6, 8}, {1, 1, 8, 4}, {}},
                        {{2, 5, 6, 8}, {1, 1, 2, 12}, {}},
                        {{2, 5, 6, 4}, {1, 1, 4, 3}, {.strides = 3}},
                        {{1, 6, 6, 2}, {5, 4, 2, 3}, {.strides = 2, .padding = {{3, 1}, {0, 4}}}},
                        {{2, 20, 3}, {4, 3, 7}, {.padding = Padding::same}},
                        {{2, 5, 4, 6, 2}, {2, 3, 3, 2, 4}, {.strides = 2, .padding = Padding::same}},
                        {{0, 5, 6, 4}, {2, 2, 4, 3}, {}},
                        {{2, 5, 6, 0}, {2, 2, 0, 3}, {}}};
  for (const Case& k : cases)
    for (const DType d : {float32, float64, float16}) {
      CAPTURE(to_string(k.x), to_string(k.w), name(d));
      compare([&](const std::vector<Tensor>& in) { return nn::convolution(in[0], in[1], k.o); },
              {reals(k.x, d), reals(k.w, d, 2)});
    }
  compare(
      [](const std::vector<Tensor>& in) {
        return nn::conv2d_transpose(in[0], in[1], {2, 9, 8, 4}, {.strides = 2, .padding = Padding::same});
      },
      {reals({2, 5, 4, 3}), reals({3, 3, 4, 3}, float32, 2)});
}

TEST_CASE("CUDA nn: the epilogues of convolutions, with any of their inputs") {
  TANDEM_NEEDS_GPU;
  using A = FusedActivation;
  for (const Shape& x : {Shape{2, 6, 5, 3}, Shape{2, 6, 5, 0}})
    for (const A activation : {A::none, A::relu, A::tanh, A::sigmoid})
      for (std::size_t inputs = 2; inputs <= 5; ++inputs) {
        CAPTURE(to_string(x), static_cast<int>(activation), inputs);
        rules::FusedConvAttrs a;
        a.strides = Shape{2, 1}, a.dilations = Shape{1, 1}, a.padding = PaddingKind::same, a.activation = activation;
        std::vector<Tensor> in{reals(x), reals({3, 3, x.dim(3), 4}, float32, 2)};
        while (in.size() < inputs) in.push_back(reals({4}, float32, static_cast<i64>(in.size())));
        compare(
            [&](const std::vector<Tensor>& operands) {
              std::vector<const Tensor*> pointers;
              for (const Tensor& t : operands) pointers.push_back(&t);
              return apply(fused_conv_op, pointers, a)[0];
            },
            in);
      }
}

TEST_CASE("CUDA nn: the pass fuses what follows a convolution of the device") {
  const Spec image{{2, 6, 5, 3}, float32, gpu}, filter{{3, 3, 3, 4}, float32, gpu}, vector{{4}, float32, gpu};
  TANDEM_NEEDS_GPU;
  const Ref<Graph> g = testing::traced({image, filter, vector}, [](const std::vector<Tensor>& a) {
    return std::vector<Tensor>{nn::relu((nn::conv2d(a[0], a[1]) + a[2]) * a[2] + a[2])};
  });
  const Ref<Graph> r = eliminate_dead_code(*fuse_epilogues(*g));
  CHECK(testing::count(*r, fused_conv_op) == 1);
  CHECK(testing::count(*r, conv2d_op) == 0);
  CHECK(testing::count(*r, relu_op) == 0);
}

TEST_CASE("CUDA nn: half precision reaches the kernels of convolutions") {
  const Spec image{{2, 6, 5, 3}, bfloat16, gpu}, filter{{3, 3, 3, 4}, bfloat16, gpu};
  TANDEM_NEEDS_GPU;
  const Ref<Graph> g = testing::traced({image, filter}, [](const std::vector<Tensor>& a) {
    return with_gradients([](const std::vector<Tensor>& x) { return nn::conv2d(x[0], x[1]); }, a);
  });
  CHECK(testing::count(*g, conv2d_op) == 1);
  CHECK(testing::count(*g, conv2d_filter_grad_op) == 1);
  CHECK(testing::count(*g, cast_op) == 0);
}

TEST_CASE("CUDA nn: traced convolutions") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({2, 6, 5, 3}), w = reals({3, 3, 3, 4}, float32, 2), b = reals({4}, float32, 3);
  auto f = function([](const Tensor& image, const Tensor& filter, const Tensor& bias) {
    return sigmoid((nn::conv2d(image, filter) + bias) * bias + bias);
  });
  check_near(f(x.gpu(), w.gpu(), b.gpu()), f(x, w, b), 1);
}

TEST_CASE("CUDA nn: pooling, with NaN, ties, padding and overlap") {
  TANDEM_NEEDS_GPU;
  const nn::PoolOptions options[] = {{},
                                     {.ksize = 3, .strides = 2, .padding = Padding::same},
                                     {.ksize = 2, .strides = 3},
                                     {.ksize = 3, .strides = 1, .padding = {{2, 2}, {1, 0}}},
                                     {.ksize = 2, .strides = 4, .padding = {{1, 1}, {1, 1}}}};
  const Tensor x = cast(cast(reals({2, 7, 6, 3}) * 4, int32), float32);  // many ties
  const Tensor holes = where(equal(x, 2), std::nan(""), x);
  for (const nn::PoolOptions& o : options)
    for (const Tensor& image : {x, holes, cast(x, float64), cast(x, float16)}) {
      CAPTURE(name(image.dtype()));
      compare([&](const std::vector<Tensor>& in) { return nn::max_pool(in[0], o); }, {image});
      compare([&](const std::vector<Tensor>& in) { return nn::avg_pool(in[0], o); }, {image});
    }
  for (const DType d : {int8, uint16, int64})
    check_near(nn::max_pool(cast(x, d).gpu(), options[1]), nn::max_pool(cast(x, d), options[1]));
  const auto want = nn::max_pool_with_argmax(holes, {.include_batch_in_index = true}),
             got = nn::max_pool_with_argmax(holes.gpu(), {.include_batch_in_index = true});
  check_near(got.argmax, want.argmax);
}

TEST_CASE("CUDA nn: pooling that counts in 64 bits") {  // on the emulator from 2^12 on; on a GPU those of `far`
  TANDEM_NEEDS_GPU;
  const Tensor large = cast(cast(reals({3, 40, 41, 3}) * 4, int32), float32), small = reals({2, 7, 6, 3});
  for (const nn::PoolOptions& o : {nn::PoolOptions{.ksize = 3, .strides = 2, .padding = Padding::same},
                                   nn::PoolOptions{.ksize = 2, .strides = i64(1) << 30}}) {
    compare([&](const std::vector<Tensor>& in) { return nn::max_pool(in[0], o); }, {large});
    compare([&](const std::vector<Tensor>& in) { return nn::avg_pool(in[0], o); }, {large});
  }
  const nn::GeneralPoolOptions far{.padding = Padding::same, .dilations = i64(1) << 30};
  for (const nn::PoolingType type : {nn::PoolingType::max, nn::PoolingType::avg})
    compare([&](const std::vector<Tensor>& in) { return nn::pool(in[0], {3, 3}, type, far); }, {small});
  const auto want = nn::max_pool_with_argmax(large), got = nn::max_pool_with_argmax(large.gpu());
  check_near(got.argmax, want.argmax);
}

TEST_CASE("CUDA nn: normalizations of short and long rows") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, bfloat16})
    for (const auto& [rows, n] : std::vector<std::pair<i64, i64>>{{1, 1}, {9, 3}, {300, 40}, {3, 2000}, {0, 5}}) {
      CAPTURE(name(d), rows, n);
      const std::vector<Tensor> in{reals({rows, n}, d), reals({n}, d, 2), reals({n}, d, 3)};
      compare([](const std::vector<Tensor>& x) { return nn::layer_norm(x[0], {.scale = x[1], .offset = x[2]}); }, in);
      compare([](const std::vector<Tensor>& x) { return nn::layer_norm(x[0], {.offset = x[1]}); }, {in[0], in[1]});
      compare([](const std::vector<Tensor>& x) { return nn::rms_norm(x[0], {.scale = x[1]}); }, {in[0], in[1]});
    }
  compare([](const std::vector<Tensor>& x) { return nn::layer_norm(x[0], {.axis = {1, 2}}); }, {reals({4, 5, 6})});
}

TEST_CASE("CUDA nn: batch normalization, channels last and first") {
  TANDEM_NEEDS_GPU;
  for (const DataFormat format : {DataFormat::channels_last, DataFormat::channels_first})
    for (const Shape& shape : {Shape{3, 6, 5, 6}, Shape{500, 6, 4, 6}, Shape{0, 6, 2, 6}, Shape{7, 6}, Shape{1, 6}}) {
      CAPTURE(to_string(shape));
      compare(
          [&](const std::vector<Tensor>& in) {
            const auto r = nn::fused_batch_norm(in[0] + 3, in[1], in[2], {.data_format = format, .is_training = true});
            return shape.size() ? r.y * reduce_sum(r.mean + r.variance) : r.y;
          },
          {reals(shape), reals({6}, float32, 2), reals({6}, float32, 3)});
    }
}

// float64 on the CPU, of the same numbers. The variances of `odd` alone are as large as their squares.
TEST_CASE("CUDA nn: moments of batch normalization, far from zero and of odd numbers") {
  TANDEM_NEEDS_GPU;
  const auto norm = [](const Tensor& x, DataFormat format) {
    const Tensor ones = cast(tandem::ones({4}), x.dtype()).to(x.device());
    return nn::fused_batch_norm(x, ones, ones, {.data_format = format, .is_training = true});
  };
  const auto spread = [&](const Shape& shape, double mean, double odd) {  // standard deviation 1
    const Tensor x = mean + 1.7320508 * reals(shape, float64);
    return cast(where(equal(reshape(range(x.size()), shape), 5), odd, x), float32);
  };
  for (const DataFormat format : {DataFormat::channels_last, DataFormat::channels_first})
    for (const Shape& shape : {Shape{40, 4, 5, 4}, Shape{3, 4, 3, 4}, Shape{2000, 4, 2, 4}})
      for (const auto& [mean, odd] :
           std::vector<std::pair<double, double>>{{0, 0}, {1e4, 1e4}, {-1e6, -1e6}, {3, 1e6}}) {
        CAPTURE(to_string(shape), mean, odd);
        const Tensor x = spread(shape, mean, odd);
        const auto got = norm(x.gpu(), format), want = norm(cast(x, float64), format);
        check_near(got.mean, cast(want.mean, float32));
        check_near(got.variance, cast(want.variance, float32));
        // A mean is a float32: half a unit of its last place is an error of y.
        check_near(got.y, cast(want.y, float32), 1 + std::abs(mean) * 1e-2);
        const Tensor exact = cast(x, float64);
        check_near(norm(exact.gpu(), format).variance, want.variance, 1 + std::abs(mean) * 1e-3);
      }
  for (const float odd : {INFINITY, -INFINITY, NAN, 1e30f}) {
    CAPTURE(odd);
    const Tensor x = spread({40, 4, 5, 4}, 3, odd);
    const auto got = norm(x.gpu(), DataFormat::channels_last), want = norm(x, DataFormat::channels_last);
    for (const auto& [a, b] : {std::pair(got.mean, want.mean), std::pair(got.variance, want.variance)}) {
      const auto u = a.to_vector<float>(), v = b.to_vector<float>();
      for (std::size_t i = 0; i < u.size(); ++i) {
        CAPTURE(i, u[i], v[i]);
        CHECK(std::isnan(u[i]) == std::isnan(v[i]));
        CHECK(std::isinf(u[i]) == std::isinf(v[i]));
      }
    }
  }
  const auto of_nothing = norm(zeros({0, 5, 4}).gpu(), DataFormat::channels_last);
  for (const Tensor& t : {of_nothing.mean, of_nothing.variance})
    for (const float number : t.to_vector<float>()) CHECK(std::isnan(number));
}

// A kernel that folds, and one that writes each element: so x and g are read twice.
TEST_CASE("CUDA nn: batch normalization and its gradient are two kernels each") {
  TANDEM_NEEDS_GPU;
  if (!emulator::kernels_run) TANDEM_SKIP("only the emulator counts kernels");
  const Tensor x = reals({40, 5, 6, 4}).gpu(), ones = tandem::ones({4}).gpu();
  const auto kernels = [](const auto& f) {
    cuda::synchronize();
    const int before = emulator::kernels_run();
    f();
    cuda::synchronize();
    return emulator::kernels_run() - before;
  };
  GradientTape tape;
  tape.watch(x);
  Tensor y;
  const Tensor* const in[] = {&x, &ones, &ones};
  CHECK(kernels([&] { y = apply(fused_batch_norm_op, in, rules::BatchNormAttrs{3, 1e-3})[0]; }) == 2);
  CHECK(kernels([&] { (void)tape.gradient(y, x, {.output_gradients = {x}}); }) == 2);
}

}  // namespace cuda_nn_test
