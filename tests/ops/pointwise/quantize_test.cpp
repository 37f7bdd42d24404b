// quantize and dequantize against codes computed here, simulated quantization with its gradients, casts and prints of
// quantized tensors, errors.
#include "tandem/ops/pointwise/quantize.hpp"

#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;
using quantization::Mode;
using quantization::RoundMode;

namespace {

Floats line(int count, float low, float high) {
  Floats x;
  for (int i = 0; i < count; ++i)
    x.push_back(low + (high - low) * static_cast<float>(i) / static_cast<float>(count - 1));
  return x;
}
Ints codes(const Tensor& q) { return cast(q, int32).to_vector<std::int32_t>(); }
float largest_difference(const Tensor& a, const Floats& b) {
  float worst = 0;
  const Floats x = a.to_vector<float>();
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(x[i] - b[i]));
  return worst;
}
// TensorFlow's rule of fake_quant in double precision.
double fake_quant(double x, double low, double high, int bits, bool narrow) {
  const double first = narrow ? 1 : 0, last = std::pow(2, bits) - 1, step = (high - low) / (last - first);
  const double zero = std::floor(std::min(std::max(first - low / step, first), last) + 0.5);
  const double start = (first - zero) * step, end = (last - zero) * step;
  return std::floor((std::min(std::max(x, start), end) - start) / step + 0.5) * step + start;
}

}  // namespace

TEST_CASE("quantize then dequantize differs by at most one step") {
  const Floats x = line(1000, -1, 1);
  for (const DType type : {quint8, qint8, qint32}) {
    const quantization::Quantized q = quantization::quantize(f32(x), -1, 1, {.T = type});
    CHECK(q.output.dtype() == type);
    CHECK(q.output_min.item<float>() == -1);
    CHECK(q.output_max.item<float>() == 1);
    CHECK(largest_difference(quantization::dequantize(q), x) <= (type == qint32 ? 1e-6f : 2.f / 255));
    if (type == quint8) continue;  // in Mode::scaled without numbers below 0
    const quantization::Quantized s = quantization::quantize(f32(x), -1, 1, {.T = type, .mode = Mode::scaled});
    CHECK(largest_difference(quantization::dequantize(s, {.mode = Mode::scaled}), x) <=
          (type == qint32 ? 1e-6f : 2.f / 127));
  }
}

TEST_CASE("quantize: codes at the ends, outside, between, and of NaN") {
  const Tensor x = f32({-1, 1, -5, 5, 0, 0.5f, qnan});
  CHECK(codes(quantization::quantize(x, -1, 1).output) == Ints{0, 255, 0, 255, 128, 191, 0});
  CHECK(codes(quantization::quantize(x, -1, 1, {.T = qint8}).output) == Ints{-128, 127, -128, 127, 0, 63, -128});
  CHECK(codes(quantization::quantize(f32({0.5f, 1.5f, 2.5f, -0.5f}), -127, 127,
                                     {.T = qint8, .mode = Mode::scaled, .narrow_range = true})
                  .output) == Ints{1, 2, 3, -1});
  CHECK(codes(quantization::quantize(
                  f32({0.5f, 1.5f, 2.5f, -0.5f}), -127, 127,
                  {.T = qint8, .mode = Mode::scaled, .round_mode = RoundMode::half_to_even, .narrow_range = true})
                  .output) == Ints{0, 2, 2, 0});
  CHECK(quantization::quantize(f64({0.25}), 0, 1).output_max.dtype() == float64);
}

TEST_CASE("quantize: the range is widened to contain 0 and to have a width") {
  const quantization::Quantized above = quantization::quantize(f32({3}), 2, 4);
  CHECK(above.output_min.item<float>() == 0);
  CHECK(above.output_max.item<float>() == 4);
  const quantization::Quantized below = quantization::quantize(f32({-3}), -4, -2);
  CHECK(below.output_min.item<float>() == -4);
  CHECK(below.output_max.item<float>() == 0);
  const quantization::Quantized point = quantization::quantize(f32({0}), 0, 0);
  CHECK(point.output_max.item<float>() == 0.01f);
  const quantization::Quantized scaled = quantization::quantize(f32({0}), -1, 2, {.T = qint8, .mode = Mode::scaled});
  CHECK(scaled.output_max.item<float>() == 2);
  CHECK(scaled.output_min.item<float>() == Approx(-256. / 127));
}

TEST_CASE("quantized tensors are cast and printed, and refused by float ops") {
  const Tensor q = quantization::quantize(f32({-1, 0, 1}), -1, 1).output;
  CHECK(to_string(q).find("quint8") != std::string::npos);
  CHECK(to_string(q).find("255") != std::string::npos);
  CHECK(cast(q, float32).to_vector<float>() == Floats{0, 128, 255});
  CHECK(cast(f32({-200, 3.7f}), qint8).dtype() == qint8);
  CHECK(codes(cast(f32({-200, 3.7f}), qint8)) == Ints{-128, 3});
  CHECK_THROWS_WITH(q + q, ContainsSubstring("quint8"));
  CHECK_THROWS_AS(exp(q), errors::UnimplementedError);
  CHECK_THROWS_AS(matmul(reshape(q, {1, 3}), reshape(q, {3, 1})), errors::UnimplementedError);
}

TEST_CASE("quantize_and_dequantize: values and the straight-through gradient") {
  const Tensor x = f32({-1, -0.5f, 0, 0.3f, 1});
  const auto y =
      quantization::quantize_and_dequantize(x, 0, 0).to_vector<float>();  // the range of x: -1 is code -127.5
  for (std::size_t i = 0; i < 5; ++i) {
    const double step = 1. / 127, code = std::nearbyint(x.to_vector<float>()[i] / step);
    CHECK(y[i] == Approx(std::min(std::max(code, -128.), 127.) * step).margin(1e-6));
  }
  CHECK(same(quantization::quantize_and_dequantize(f32({0.4f, 3, 9}), 0, 7,
                                                   {.signed_input = false, .num_bits = 3, .range_given = true}),
             {0, 3, 7}));
  CHECK(same(quantization::quantize_and_dequantize(
                 f32({0.5f, 1.5f, -0.5f}), -3, 3,
                 {.num_bits = 3, .range_given = true, .round_mode = RoundMode::half_away_from_zero}),
             {1, 2, -1}));
  CHECK(same(quantization::quantize_and_dequantize(f32({0, 0}), 0, 0), {0, 0}));
  GradientTape tape;
  tape.watch(x);
  const Tensor z = quantization::quantize_and_dequantize(x, -0.6f, 0.6f, {.range_given = true});
  CHECK(same(tape.gradient(z * f32({1, 2, 3, 4, 5}), x), {1, 2, 3, 4, 5}));
}

TEST_CASE("fake_quant: values over a line, also narrow and shifted intervals") {
  const Floats x = line(2001, -8, 8);
  struct Row {
    double low, high;
    int bits;
    bool narrow;
  };
  for (const Row& r : {Row{-6, 6, 8, false}, Row{-1, 3, 8, true}, Row{0.5, 5, 4, false}, Row{-4, -1, 3, false},
                       Row{-2, 2, 16, true}}) {
    CAPTURE(r.low, r.high, r.bits, r.narrow);
    const Doubles y =
        quantization::fake_quant_with_min_max_args(
            cast(f32(x), float64), {.min = r.low, .max = r.high, .num_bits = r.bits, .narrow_range = r.narrow})
            .to_vector<double>();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::abs(y[i] - fake_quant(double(x[i]), r.low, r.high, r.bits, r.narrow)));
    CHECK(worst < 1e-12);
  }
  CHECK(close<float>(quantization::fake_quant_with_min_max_args(f32({0, -100, 100, qnan})),
                     {0, -6.0235294f, 5.9764706f, qnan}));
  CHECK(same(quantization::fake_quant_with_min_max_args(f32({9, 0}), {.min = 0, .max = 1, .num_bits = 2}), {1, 0}));
  CHECK(same(quantization::fake_quant_with_min_max_vars(f32({3, -2}), constant(0.f), constant(0.f)), {0, 0}));
}

TEST_CASE("fake_quant: gradients to x inside, to min and max outside") {
  const Tensor x = f32({-7, -1, 0, 2, 9}), min = constant(-2.f), max = constant(3.f), g = f32({1, 2, 4, 8, 16});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(min);
  tape.watch(max);
  const Tensor y = quantization::fake_quant_with_min_max_vars(x, min, max) * g;
  CHECK(same(tape.gradient(y, x), {0, 2, 4, 8, 0}));
  CHECK(tape.gradient(y, min).item<float>() == 1);
  CHECK(tape.gradient(y, max).item<float>() == 16);
  const Tensor zero = constant(0.f);
  GradientTape untrained({.persistent = true});
  untrained.watch(x);
  untrained.watch(zero);
  const Tensor none_yet = quantization::fake_quant_with_min_max_vars(x, zero, zero) * g;
  CHECK(same(untrained.gradient(none_yet, x), {1, 2, 4, 8, 16}));
  CHECK(untrained.gradient(none_yet, zero).item<float>() == 0);
  const Tensor low = f32({-1, -2}), high = f32({1, 2}), m = constant({{0.5f, 1.5f}, {3.f, -3.f}});
  GradientTape channels({.persistent = true});
  channels.watch(low);
  channels.watch(high);
  const Tensor z = quantization::fake_quant_with_min_max_vars_per_channel(m, low, high);
  CHECK(same(channels.gradient(z, low), {0, 1}));
  CHECK(same(channels.gradient(z, high), {1, 0}));
}

TEST_CASE("quantization: unknown sizes in a trace, half precision") {
  const auto f = function(
      [](const Tensor& x) {
        return quantization::dequantize(quantization::quantize(x, -1, 1)) +
               quantization::fake_quant_with_min_max_args(x);
      },
      {.input_signature = {{{none}, float32, {}}}});
  const Tensor x = f32({-0.7f, 0.2f, 0.9f});
  const Tensor want =
      quantization::dequantize(quantization::quantize(x, -1, 1)) + quantization::fake_quant_with_min_max_args(x);
  CHECK(f(x).to_vector<float>() == want.to_vector<float>());
  CHECK(quantization::fake_quant_with_min_max_args(cast(x, float16)).dtype() == float16);
}

TEST_CASE("quantization: bad arguments") {
  using errors::InvalidArgumentError;
  const Tensor x = f32({1, 2});
  CHECK_THROWS_WITH(quantization::quantize(x, 1, -1), ContainsSubstring("is above max_range"));
  CHECK_THROWS_WITH(quantization::quantize(x, 5, 3),
                    ContainsSubstring("min_range 5.000000 is above max_range 3.000000"));
  CHECK_THROWS_WITH(quantization::quantize(x, -1e8f, -2e8f), ContainsSubstring("is above max_range -200000000.000000"));
  CHECK_THROWS_WITH(quantization::quantize(x, 0, 1, {.T = uint8}), ContainsSubstring("uint8 is not qint8"));
  CHECK_THROWS_AS(quantization::quantize(x, 0, 1, {.narrow_range = true}), InvalidArgumentError);
  CHECK_THROWS_AS(quantization::quantize(x, f32({0, 1}), f32({1, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(quantization::quantize(i32({1}), 0, 1), errors::OpError);
  CHECK_THROWS_AS(quantization::dequantize(x, 0, 1), errors::OpError);
  CHECK_THROWS_WITH(quantization::fake_quant_with_min_max_args(x, {.min = 1, .max = 1}),
                    ContainsSubstring("not below max"));
  CHECK_THROWS_WITH(quantization::fake_quant_with_min_max_args(x, {.num_bits = 1}), ContainsSubstring("num_bits is 1"));
  CHECK_THROWS_AS(quantization::fake_quant_with_min_max_vars(x, x, x), InvalidArgumentError);
  CHECK_THROWS_AS(quantization::quantize_and_dequantize(x, 0, 1, {.num_bits = 64}), InvalidArgumentError);
  CHECK_THROWS_WITH(quantization::quantize_and_dequantize(x, 3, -3, {.range_given = true}),
                    ContainsSubstring("quantize_and_dequantize: min is above max"));
  CHECK_THROWS_WITH(quantization::quantize_and_dequantize(x, x, x, {.range_given = true}),
                    ContainsSubstring("input_min and input_max must be scalars"));
  CHECK_THROWS_WITH(quantization::fake_quant_with_min_max_vars(x, constant(2.f), constant(1.f)),
                    ContainsSubstring("fake_quant_with_min_max_vars: min is above max"));
  CHECK_THROWS_WITH(quantization::fake_quant_with_min_max_vars_per_channel(x, f32({0, 2}), f32({1, 1})),
                    ContainsSubstring("min is above max"));
  CHECK(quantization::quantize_and_dequantize(constant(Floats{}, {.shape = {0}}), 0, 0).size() == 0);
}
