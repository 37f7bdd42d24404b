// Frames, windows and short-time transforms against loops; their gradients; wrong operands.
#include "tandem/signal/frames.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/signal_op_table.hpp"
#include "tests/signal/complex_values.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace signal_test;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

TEST_CASE("frame: cuts an axis into frames that overlap") {
  const Tensor x = range(1, 8);
  CHECK(signal::frame(x, 3, 2).to_vector<std::int32_t>() == Ints{1, 2, 3, 3, 4, 5, 5, 6, 7});
  CHECK(signal::frame(x, 2, 4).to_vector<std::int32_t>() == Ints{1, 2, 5, 6});
  CHECK(signal::frame(x, 8, 1).shape() == Shape{0, 8});
  CHECK(signal::frame(x, 3, 3, {.pad_end = true}).to_vector<std::int32_t>() == Ints{1, 2, 3, 4, 5, 6, 7, 0, 0});
  CHECK(signal::frame(x, 5, 4, {.pad_end = true}).to_vector<std::int32_t>() == Ints{1, 2, 3, 4, 5, 5, 6, 7, 0, 0});
  CHECK(signal::frame(x, 3, 3, {.pad_end = true, .pad_value = -4}).to_vector<std::int32_t>() ==
        Ints{1, 2, 3, 4, 5, 6, 7, -4, -4});
  const auto padded = [](const Tensor& t, double pad) {
    return signal::frame(t, 2, 2, {.name = "cut", .pad_end = true, .pad_value = pad});
  };
  const Tensor three = constant({1.f, 2.f, 3.f});
  CHECK(padded(three, -INFINITY).to_vector<float>() == Floats{1, 2, 3, -INFINITY});
  CHECK(std::isnan(padded(three, NAN).to_vector<float>()[3]));
  CHECK(padded(constant({INFINITY, 2.f, 3.f}), 7).to_vector<float>() == Floats{INFINITY, 2, 3, 7});
  CHECK(numbers_of(padded(cast(three, complex128), .5)) == std::vector<C>{1, 2, 3, .5});
  CHECK_THROWS_AS(padded(x, .5), errors::InvalidArgumentError);
  CHECK_THROWS_AS(padded(x, NAN), errors::InvalidArgumentError);
  CHECK(signal::frame(zeros({0}), 3, 3, {.pad_end = true}).shape() == Shape{0, 3});
  const Tensor y = reshape(range(8), {4, 2});  // rows of an axis in front
  CHECK(signal::frame(y, 2, 1, {.axis = 0}).shape() == Shape{3, 2, 2});
  CHECK(signal::frame(y, 2, 1, {.axis = -2}).to_vector<std::int32_t>() == Ints{0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7});
  CHECK(signal::frame(y, 2, 2).shape() == Shape{4, 1, 2});
  CHECK(signal::frame(y, 2, 3, {.pad_end = true, .pad_value = -1, .axis = 0}).to_vector<std::int32_t>() ==
        Ints{0, 1, 2, 3, 6, 7, -1, -1});
}

TEST_CASE("frames: rows of a batch, and the axis 0, are as those of one signal") {
  const long n = 23;
  const Tensor x = real(complex_tensor(noise(3 * n), {3, n}, complex128));
  const auto same = [](const Tensor& a, const Tensor& b) { return error_of(numbers_of(a), numbers_of(b)) < 1e-14; };
  const auto frames = [&](long r, long length, long step, bool pad_end) {  // by the definition
    std::vector<C> want;
    for (long from = 0; pad_end ? from < n : from + length <= n; from += step)
      for (long k = 0; k < length; ++k)
        want.push_back(from + k < n ? numbers_of(x(r))[static_cast<std::size_t>(from + k)] : C(7));
    return want;
  };
  for (const bool pad_end : {false, true})
    for (const i64 step : {1, 3, 6}) {
      CAPTURE(pad_end, step);
      const signal::FrameOptions o{.pad_end = pad_end, .pad_value = 7};
      const Tensor y = signal::frame(x, 5, step, o), whole = signal::overlap_and_add(y, step);
      const Tensor first = signal::frame(transpose(x), 5, step, {.pad_end = pad_end, .pad_value = 7, .axis = 0});
      for (long r = 0; r < 3; ++r) {
        CHECK(numbers_of(y(r)) == frames(r, 5, step, pad_end));
        CHECK(numbers_of(first(Slice(), Slice(), r)) == frames(r, 5, step, pad_end));
        std::vector<C> sum(static_cast<std::size_t>(whole.shape()[1]));
        for (std::size_t i = 0; i < numbers_of(y(r)).size(); ++i)
          sum[i / 5 * static_cast<std::size_t>(step) + i % 5] += numbers_of(y(r))[i];
        CHECK(error_of(numbers_of(whole(r)), sum) < 1e-14);
      }
    }
  for (const bool pad_end : {false, true}) {
    const Tensor y = signal::stft(x, 8, 3, {.pad_end = pad_end}), back = signal::inverse_stft(y, 8, 3);
    for (long r = 0; r < 3; ++r) {
      CHECK(same(y(r), signal::stft(x(r), 8, 3, {.pad_end = pad_end})));
      CHECK(same(back(r), signal::inverse_stft(y(r), 8, 3)));
    }
  }
}

TEST_CASE("signal: a saved graph is loaded with signal::all_ops()") {
  auto f = function([](const Tensor& x) { return signal::dct(signal::frame(x, 4, 2)); });
  const std::string bytes = serialize(f.get_concrete_function(TensorSpec({10}))->graph());
  CHECK_THROWS_AS(parse_graph(bytes, {.ops = all_ops()}), errors::NotFoundError);
  ConcreteFunction loaded(parse_graph(bytes, {.ops = {all_ops(), signal::all_ops()}}));
  const Tensor x = sin(cast(range(10), float32));
  CHECK(loaded(std::vector<Tensor>{x})[0].to_vector<float>() == f(x).to_vector<float>());
}

TEST_CASE("overlap_and_add: undoes frame but for the overlaps") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  CHECK(signal::overlap_and_add(x, 1).to_vector<float>() == Floats{1, 6, 8, 6});
  CHECK(signal::overlap_and_add(x, 3).to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
  CHECK(signal::overlap_and_add(x, 4).to_vector<float>() == Floats{1, 2, 3, 0, 4, 5, 6});
  CHECK(signal::overlap_and_add(zeros({0, 3}), 2).shape() == Shape{0});
  CHECK(signal::overlap_and_add(zeros({2, 3, 0}), 2).to_vector<float>() == Floats(8, 0));
  const Tensor z = signal::overlap_and_add(tandem::complex(x, -x), 2);
  CHECK(numbers_of(z) == std::vector<C>{{1, -1}, {2, -2}, {7, -7}, {5, -5}, {6, -6}});
}

TEST_CASE("windows: TensorFlow's numbers") {
  const auto near = [](const Tensor& t, const std::vector<C>& want) { return error_of(numbers_of(t), want) < 1e-6; };
  CHECK(near(signal::hann_window(4), {0, 0.5, 1, 0.5}));
  CHECK(near(signal::hann_window(4, {.periodic = false}), {0, 0.75, 0.75, 0}));
  CHECK(near(signal::hann_window(5), {0, 0.5, 1, 0.5, 0}));
  CHECK(near(signal::hamming_window(4), {0.08, 0.54, 1, 0.54}));
  CHECK(signal::hann_window(1).to_vector<float>() == Floats{1});
  CHECK(signal::hann_window(3, {.dtype = float64}).dtype() == float64);
  // Squares of the overlapping forward windows times this one add up to 1.
  const Tensor w = signal::hann_window(8, {.dtype = float64});
  const Tensor back = signal::inverse_stft_window(8, 2, &signal::hann_window, {.dtype = float64});
  const std::vector<C> a = numbers_of(w), b = numbers_of(back);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(std::abs(a[k] * b[k] + a[k + 2] * b[k + 2] + a[k + 4] * b[k + 4] + a[k + 6] * b[k + 6] - 1.) < 1e-12);
}

TEST_CASE("stft: windowed transforms of frames, and back") {
  std::vector<C> x = noise(50);
  for (C& z : x) z = z.real();
  const Tensor t = real(complex_tensor(x, {50}, complex128));
  const Tensor y = signal::stft(t, 12, 5);
  REQUIRE(y.shape() == Shape{8, 9});
  std::vector<C> want;
  for (std::size_t f = 0; f < 8; ++f) {
    std::vector<C> frame(16);
    for (std::size_t k = 0; k < 12; ++k)
      frame[k] = x[f * 5 + k] * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / 12));
    for (const C& z : part(transformed(frame), 0, 9)) want.push_back(z);
  }
  CHECK(error_of(numbers_of(y), want) < 1e-13);
  CHECK(signal::stft(t, 12, 5, {.fft_length = 12, .window_fn = nullptr, .pad_end = true}).shape() == Shape{10, 7});
  CHECK(signal::stft(cast(t, float32), 12, 5).dtype() == complex64);
  const Tensor back =
      signal::inverse_stft(signal::stft(t, 16, 4), 16, 4, {.window_fn = [](i64 n, signal::WindowOptions o) {
                             return signal::inverse_stft_window(n, 4, &signal::hann_window, o);
                           }});
  CHECK(error_of(part(numbers_of(back), 16, 16), part(x, 16, 16)) < 1e-12);
}

TEST_CASE("frames: gradients of both orders against differences") {
  const Tensor x = real(complex_tensor(noise(11), {11}, complex128));
  const auto check = [](const auto& f, const Tensor& at) {
    CHECK(test::compute_gradient_error(f, at, {.delta = 1e-5}) < 1e-6);
    const auto slope = [&](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      return square(tape.gradient(f(t), t));
    };
    CHECK(test::compute_gradient_error(slope, at, {.delta = 1e-5}) < 1e-4);
  };
  check([](const Tensor& t) { return reduce_sum(square(square(signal::frame(t, 4, 3)))); }, x);
  check([](const Tensor& t) { return reduce_sum(square(square(signal::frame(t, 4, 3, {.pad_end = true})))); }, x);
  check(
      [](const Tensor& t) {
        return reduce_sum(square(square(signal::overlap_and_add(reshape(t(Slice(0, 10)), {2, 5}), 3))));
      },
      x);
  check([](const Tensor& t) { return reduce_sum(square(square(real(signal::stft(t, 4, 2))))); }, x);
  check([](const Tensor& t) { return reduce_sum(square(square(signal::inverse_stft(signal::stft(t, 4, 2), 4, 2)))); },
        x);
}

TEST_CASE("frames: traced with an unknown length") {
  const auto f = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(square(signal::inverse_stft(signal::stft(x, 8, 4, {.pad_end = true}), 8, 4)), x);
  };
  auto traced = function(f, {.input_signature = {TensorSpec({none})}});
  for (const int n : {8, 21, 40}) {
    const Tensor x = sin(cast(range(n), float32));
    CHECK(traced(x).to_vector<float>() == f(x).to_vector<float>());
  }
}

TEST_CASE("frames: wrong operands say what is wrong") {
  using testing::error_of;
  CHECK_THAT(error_of([] { signal::frame(zeros({4}), 0, 1); }),
             ContainsSubstring("frame: frame_length must be at least 1, not 0"));
  CHECK_THAT(error_of([] { signal::frame(zeros({4}), 2, 0); }),
             ContainsSubstring("frame: frame_step must be at least 1, not 0"));
  CHECK_THAT(error_of([] { signal::frame(zeros({4}), 2, 1, {.axis = 1}); }), ContainsSubstring("axis 1"));
  CHECK_THAT(error_of([] { signal::overlap_and_add(zeros({4}), 1); }),
             ContainsSubstring(
                 "overlap_and_add: the operand must have an axis of frames and one of their elements: float32[4]"));
  CHECK_THAT(error_of([] {
               signal::overlap_and_add(zeros({2, 4}), 0);
             }),
             ContainsSubstring("overlap_and_add: frame_step must be at least 1, not 0"));
  CHECK_THAT(error_of([] { signal::hann_window(0); }),
             ContainsSubstring("hann_window: window_length must be at least 1, not 0"));
  CHECK_THROWS_AS(signal::hann_window(i64(1) << 50), errors::ResourceExhaustedError);
  CHECK_THROWS_AS(signal::inverse_stft_window(i64(1) << 50, 2), errors::ResourceExhaustedError);
  CHECK_THROWS_AS(signal::inverse_stft_window(i64(1) << 50, 2, nullptr), errors::ResourceExhaustedError);
  CHECK_THAT(error_of([] { signal::hamming_window(3, {.dtype = int32}); }),
             ContainsSubstring("hamming_window: the dtype must be floating, not int32"));
}
