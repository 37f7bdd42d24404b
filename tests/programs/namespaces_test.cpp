// Where TensorFlow's names are: math, nn and no namespace; devices by their names.
#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::error_of, testing::floats, testing::Floats;

TEST_CASE("math has what stands directly in tandem, and nn's order and norms") {
  const Tensor x = constant({1.f, 3.f, 2.f});
  CHECK(floats(math::exp(x)) == floats(tandem::exp(x)));
  CHECK(floats(math::add(x, x)) == Floats{2, 6, 4});
  CHECK(math::reduce_sum(x, {0}).item<float>() == 6);
  CHECK(math::argmax(x, 0).item<i64>() == 1);
  CHECK(floats(math::top_k(x, 2).values) == Floats{3, 2});
  CHECK(math::zero_fraction(constant({0.f, 1.f})).item<float>() == .5f);
}

TEST_CASE("l2_normalize: vectors of length 1, zeros stay") {
  const Tensor x = constant({{3.f, 4.f}, {0.f, 0.f}, {-1.f, 0.f}});
  CHECK(floats(nn::l2_normalize(x, 1)) == Floats{.6f, .8f, 0, 0, -1, 0});
  CHECK(floats(nn::l2_normalize(x, {1})) == floats(math::l2_normalize(x, {.axis = -1})));
  CHECK(floats(reduce_sum(square(nn::l2_normalize(x)))) == Floats{1});
  CHECK(floats(nn::l2_normalize(constant({1e-7f, 0.f}), {.epsilon = 1})) == Floats{1e-7f, 0});
  CHECK(test::compute_gradient_error([](const Tensor& t) { return nn::l2_normalize(t, 1); },
                                     constant({{3., 4.}, {.5, -2.}, {-1., .1}}, float64), {.delta = 1e-5}) < 1e-8);
}

TEST_CASE("devices by name") {
  for (const char* name : {"CPU:0", "/CPU:0", "/device:CPU:0"}) CHECK(device_named(name) == Device{});
  CHECK(device_named("/device:GPU:11") == Device{Device::gpu, 11});
  for (const char* name : {"", "GPU", "GPU:", "GPU:x", "GPU:1 ", "GPU:300", "GPU:-1", "gpu:0", "TPU:0"}) {
    CAPTURE(name);
    CHECK_THAT(error_of([&] { device_named(name); }), ContainsSubstring("'" + std::string(name) + "' does not name"));
  }
  const auto outer = device("SIM:1");
  CHECK(current_device() == Device{Device::sim, 1});
  {
    const auto inner = device("CPU:0");
    CHECK(zeros({2}).device() == Device{});
  }
  CHECK(current_device() == Device{Device::sim, 1});
}
