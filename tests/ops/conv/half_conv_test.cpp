// float16 and bfloat16 in convolutions and pooling: float32's bits, rounded once, whatever the division into bands; and
// no float32 copies of whole operands.
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/half_rounded.hpp"
#include "tests/support/sets.hpp"
#include "tests/support/threads.hpp"

using namespace tandem;
using namespace half_rounded;

namespace {

struct Case {
  const char* what;
  Shape x, w;
  nn::ConvOptions options = {};
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"same", {3, 13, 17, 20}, {3, 3, 20, 40}, {.padding = Padding::same}},
      {"sums of several blocks", {2, 9, 11, 300}, {3, 3, 300, 33}, {.padding = Padding::same}},
      {"bands", {1, 70, 71, 16}, {5, 5, 16, 8}, {.padding = Padding::same}},
      {"in place", {2, 40, 41, 24}, {3, 3, 24, 17}},
      {"strides", {2, 30, 31, 7}, {3, 3, 7, 18}, {.strides = {2, 3}, .padding = Padding::same}},
      {"wide strides", {2, 20, 21, 7}, {2, 2, 7, 18}, {.strides = 3}},
      {"dilations", {2, 30, 31, 7}, {3, 3, 7, 18}, {.padding = Padding::same, .dilations = {2, 3}}},
      {"a product", {2, 15, 16, 40}, {1, 1, 40, 50}},
      {"one pixel", {1, 1, 1, 40}, {1, 1, 40, 50}},
      {"a product with strides", {2, 15, 16, 40}, {1, 1, 40, 50}, {.strides = 2}},
      {"few results", {2, 33, 34, 12}, {3, 3, 12, 3}, {.padding = Padding::same}},
      {"a picture", {2, 33, 34, 3}, {7, 7, 3, 32}, {.strides = 2, .padding = Padding::same}},
      {"groups", {2, 12, 13, 24}, {3, 3, 8, 36}, {.padding = Padding::same}},
      {"depthwise", {2, 21, 22, 19}, {3, 3, 1, 19}, {.padding = Padding::same}},
      {"depthwise, repeated", {2, 21, 22, 10}, {3, 3, 1, 30}, {.strides = 2, .padding = Padding::same}},
      {"a large filter", {1, 4, 4, 128}, {3, 3, 128, 200}, {.padding = Padding::same}},
      {"a large filter, images", {3, 2, 2, 128}, {3, 3, 128, 200}, {.padding = Padding::same}},
      {"padding beyond the image", {2, 3, 3, 6}, {2, 2, 6, 9}, {.padding = Padding({{4, 5}, {3, 2}})}},
      {"one axis", {2, 300, 18}, {5, 18, 20}, {.padding = Padding::same}},
      {"a long axis", {1, 3000, 24}, {5, 24, 20}, {.padding = Padding::same}},
      {"a long axis in place", {1, 3000, 24}, {5, 24, 20}},
      {"a long axis, causal", {1, 3000, 24}, {5, 24, 20}, {.padding = Padding({{1100, 0}}), .dilations = 270}},
      {"a long axis, strides", {1, 6000, 24}, {5, 24, 20}, {.strides = 2, .padding = Padding::same}},
      {"a long axis, few results", {1, 3001, 40}, {7, 40, 2}, {.padding = Padding::same}},
      {"a long axis, few channels", {1, 30001, 2}, {7, 2, 24}, {.strides = 3, .padding = Padding::same}},
      {"a long axis, depthwise", {1, 3000, 70}, {5, 1, 140}, {.padding = Padding::same}},
      {"long rows", {1, 7, 1500, 40}, {3, 3, 40, 20}, {.padding = Padding::same, .dilations = {1, 2}}},
      {"long rows, a large filter", {1, 3, 300, 200}, {3, 3, 200, 210}, {.padding = Padding::same}},
      {"three axes", {2, 7, 12, 13, 6}, {3, 3, 3, 6, 20}, {.strides = {1, 2, 1}, .padding = Padding::same}},
  };
  return all;
}
void check_case(const Case& k, DType half) {
  const auto conv = [&](const Tensor& x, const Tensor& w) { return nn::convolution(x, w, k.options); };
  const Tensor x = drawn(k.x, half, 1), w = drawn(k.w, half, 2), g = drawn(conv(x, w).shape(), half, 3);
  check_rounded(k.what, conv, x, w);
  for (const std::size_t i : {0, 1}) {
    CAPTURE(i);
    check_rounded(
        k.what,
        [&](const Tensor& image, const Tensor& filter, const Tensor& up) {
          GradientTape tape;
          tape.watch(image), tape.watch(filter);
          return tape.gradient(conv(image, filter), {image, filter}, {.output_gradients = {up}})[i];
        },
        x, w, g);
  }
}

}  // namespace

TEST_CASE("half precision: convolutions and their gradients have float32's bits, rounded") {
  const DeviceScope host({Device::cpu, 0});  // a GPU may sum half precision in another order
  for (const int threads : {1, 3}) {
    const testing::Threads use(threads);
    for (const DType half : {bfloat16, float16})
      for (const Case& k : cases()) check_case(k, half);
  }
}

TEST_CASE("half precision: parts of long rows have the bits of whole rows on every instruction set") {
  const DeviceScope host({Device::cpu, 0});  // a GPU may sum half precision in another order
  testing::on_every_set([] {
    for (const Case& k : cases())
      if (std::string(k.what).find("long") != std::string::npos) check_case(k, bfloat16);
  });
}

TEST_CASE("half precision: infinite elements of a filter meet the same zeros as in float32") {
  const DeviceScope host({Device::cpu, 0});  // a GPU may sum half precision in another order
  const Tensor x = drawn({1, 40, 9, 300}, bfloat16, 1);
  const Tensor w = where(greater(drawn({3, 3, 300, 5}, float32, 2), constant(3.f)),
                         constant(std::numeric_limits<float>::infinity()), drawn({3, 3, 300, 5}, float32, 2));
  check_rounded(
      "infinite", [](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, {.padding = Padding::same}); }, x,
      cast(w, bfloat16));
}

TEST_CASE("half precision: an epilogue is applied before results are rounded") {
  const DeviceScope host({Device::cpu, 0});  // a GPU may round before it, too
  for (const DType half : {bfloat16, float16})
    for (const Shape& filter : {Shape{3, 3, 20, 21}, {1, 1, 20, 21}, {3, 3, 20, 2}, {3, 3, 1, 20}}) {
      CAPTURE(filter);
      const i64 n = filter.dim(-1);
      rules::FusedConvAttrs a;
      a.strides = a.dilations = {1, 1}, a.padding = PaddingKind::same, a.activation = FusedActivation::tanh;
      check_rounded(
          "epilogue",
          [&](const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& s, const Tensor& o) {
            return apply1(fused_conv_op, a, no_options, x, w, b, s, o);
          },
          drawn({2, 9, 10, 20}, half, 1), drawn(filter, half, 2), drawn({n}, half, 3), drawn({n}, half, 4),
          drawn({n}, half, 5));
    }
}

TEST_CASE("half precision: pooling and its gradients have float32's bits, rounded") {
  struct Pooled {
    Shape x;
    nn::GeneralPoolOptions options;
    WindowSizes window;
  };
  const std::vector<Pooled> pools{
      {{2, 40, 41, 30}, {.strides = 2}, 2},
      {{2, 90, 41, 70}, {.strides = 2, .padding = Padding::same}, 3},
      {{1, 23, 24, 5}, {.strides = 3, .padding = Padding({{1, 1}, {1, 1}})}, 2},
      {{2, 13, 14, 9}, {.padding = Padding::same, .dilations = 2}, 3},
      {{2, 100, 9}, {.strides = 3}, 3},
      {{2, 8, 9, 10, 6}, {.strides = 2, .padding = Padding::same}, 3},
      {{2, 8, 9, 10, 6}, {.strides = 2}, 2},
  };
  for (const DType half : {bfloat16, float16})
    for (const Pooled& k : pools)
      for (const nn::PoolingType type : {nn::PoolingType::max, nn::PoolingType::avg}) {
        CAPTURE(k.x, type == nn::PoolingType::max);
        const auto pool = [&](const Tensor& x) { return nn::pool(x, k.window, type, k.options); };
        const Tensor x = drawn(k.x, half, 1), g = drawn(pool(x).shape(), half, 2), u = drawn(k.x, half, 3);
        check_rounded("pool", pool, x);
        const auto gradient = [&](const Tensor& image, const Tensor& up) {
          GradientTape tape;
          tape.watch(image);
          return tape.gradient(pool(image), image, {.output_gradients = {up}});
        };
        check_rounded("gradient", gradient, x, g);
        check_rounded(
            "second gradient",
            [&](const Tensor& image, const Tensor& up, const Tensor& v) {
              GradientTape tape;
              tape.watch(up);
              return tape.gradient(gradient(image, up), up, {.output_gradients = {v}});
            },
            x, g, u);
      }
  const Tensor x = drawn({2, 12, 13, 5}, bfloat16, 4);
  const auto winners = [](const Tensor& t) {
    return nn::max_pool_with_argmax(t, {.ksize = 3, .strides = 2, .padding = Padding::same}).argmax.to_vector<i64>();
  };
  CHECK(winners(x) == winners(cast(x, float32)));
}

TEST_CASE("half precision: convolutions and pooling take scratch for bands, not for whole operands") {
  if (!kernels_take_half) TANDEM_SKIP("half precision is computed in float32 here");
  const testing::Threads two(2);
  const Tensor x = drawn({16, 64, 64, 32}, bfloat16, 1), w = drawn({3, 3, 32, 32}, bfloat16, 2);  // x: 4 MiB
  const nn::ConvOptions same{.padding = Padding::same};
  const i64 of_x = static_cast<i64>(x.spec().bytes());
  CHECK(scratch_of([&] { return nn::conv2d(x, w, same); }) < of_x / 2);
  rules::ConvAttrs a;
  a.strides = a.dilations = {1, 1}, a.padding = PaddingKind::same;
  CHECK(scratch_of([&] { return apply1(conv2d_transpose_op, a, no_options, x, w, x); }) < of_x / 2);
  CHECK(scratch_of([&] { return apply1(conv2d_filter_grad_op, a, no_options, x, x, w); }) < of_x / 2);
  const Tensor sound = reshape(x, {1, 65536, 32}), filter = drawn({5, 32, 32}, bfloat16, 3);
  CHECK(scratch_of([&] { return nn::conv1d(sound, filter, {.padding = Padding::same}); }) < of_x / 2);
  rules::ConvAttrs along;
  along.strides = along.dilations = {1}, along.padding = PaddingKind::same;
  CHECK(scratch_of([&] { return apply1(conv2d_filter_grad_op, along, no_options, sound, sound, filter); }) < of_x / 2);
  CHECK(scratch_of([&] { return nn::max_pool(x, {.ksize = 2}); }) < of_x / 2);
  CHECK(scratch_of([&] { return nn::avg_pool(x, {.ksize = 3, .strides = 1, .padding = Padding::same}); }) < of_x / 2);
}
