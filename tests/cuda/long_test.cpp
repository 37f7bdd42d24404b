// Sums and scans that many blocks share, and products of half precision.
#include <sys/wait.h>
#include <unistd.h>

#include <complex>

#include "tests/cuda/device.hpp"

namespace cuda_long_test {

using namespace tandem;
using namespace gpu_test;

TEST_CASE("CUDA long: sums in many parts, over each axis") {
  TANDEM_NEEDS_GPU;
  for (const Shape& s :
       {Shape{many}, Shape{many / 7, 7}, Shape{7, many / 7}, Shape{3, many / 300, 100}, Shape{1, many, 1}})
    for (const int axis : {0, s.rank() - 1}) {
      CAPTURE(to_string(s), axis);
      const Tensor x = reals(s), y = x.gpu();
      check_near(reduce_sum(y, axis), cast(reduce_sum(cast(x, float64), axis), float32), 100);
      check_near(reduce_max(y, axis), reduce_max(x, axis));
      check_near(argmin(y, axis), argmin(x, axis));
    }
  const Tensor whole = cast(100 * reals({many}), int32);
  check_near(reduce_sum(whole.gpu()), reduce_sum(whole));
}

TEST_CASE("CUDA long: folds of adjacent elements, at any address") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, int8, int16, int64, uint8, complex64, complex128})
    for (const i64 n : {1, 3, 5, 16, 17, 65, 1023, 4099, 9000}) {
      CAPTURE(name(d), n);
      const Tensor flat = cast(cast(4 * reals({3 * n + 1}), int32), d), y = flat.gpu();  // whole: sums are exact
      const auto rows = [n](const Tensor& t) { return reshape(t(Slice(1, none)), {3, n}); };
      check_near(reduce_sum(y(Slice(1, none))), reduce_sum(flat(Slice(1, none))));
      check_near(reduce_sum(y), reduce_sum(flat));
      check_near(reduce_sum(rows(y), 1), reduce_sum(rows(flat), 1));
      if (!is_complex(d)) check_near(argmax(rows(y), 1), argmax(rows(flat), 1));
    }
  for (const i64 n : {4, 1030, 9001}) {
    const Tensor x = reals({n + 1}).gpu(), view = x(Slice(1, none)), copy = view.cpu().gpu();
    CHECK(table_calls::same_bits(reduce_sum(view), reduce_sum(copy)));
    CHECK(table_calls::same_bits(reduce_logsumexp(view), reduce_logsumexp(copy)));
    for (const float odd : {NAN, INFINITY}) {
      const Tensor t = where(equal(range(n + 1), n), odd, reals({n + 1}));  // in the last element
      CHECK(table_calls::same_bits(reduce_max(t.gpu()), reduce_max(t)));
      CHECK(table_calls::same_bits(is_nan(reduce_sum(t.gpu())), is_nan(reduce_sum(t))));
      check_near(argmax(t.gpu(), 0), argmax(t, 0));
    }
  }
  check_near(reduce_sum(zeros({0}).gpu()), zeros({}));
  check_near(reduce_sum(zeros({3, 0}).gpu(), 1), zeros({3}));
}

TEST_CASE("CUDA long: scans of long, of many and of interleaved rows, in both directions") {
  TANDEM_NEEDS_GPU;
  struct Case {
    Shape shape;
    int axis;
  };
  for (const Case& k :
       {Case{{many}, 0}, Case{{3, many / 3}, 1}, Case{{many / 100, 100}, 1}, Case{{many / 10, 10}, 1},
        Case{{many / 5, 5}, 0}, Case{{2, 1025, 3}, 1}, Case{{1, 5000}, 1}, Case{{0, 5}, 1}, Case{{5, 0}, 1}})
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true}) {
        CAPTURE(to_string(k.shape), k.axis, reverse, exclusive);
        const ScanOptions o{.axis = k.axis, .exclusive = exclusive, .reverse = reverse};
        const Tensor x = reals(k.shape), whole = cast(1000 * x, int64), factors = 1 + 0.1 * reals(k.shape, float64);
        check_near(cumsum(x.gpu(), o), cumsum(x, o), 1);
        check_near(cumsum(whole.gpu(), o), cumsum(whole, o));
        if (x.shape()[k.axis] <= 5000) check_near(cumprod(factors.gpu(), o), cumprod(factors, o), 1);
        check_near(detail::cumulative_max(x.gpu(), k.axis, reverse), detail::cumulative_max(x, k.axis, reverse));
        check_near(detail::shift(x.gpu(), k.axis, reverse), detail::shift(x, k.axis, reverse));
      }
}

TEST_CASE("CUDA long: products of half precision are summed in float32") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float16, bfloat16}) {
    CAPTURE(name(d));
    const Tensor a = reals({33, 700}, d), b = reals({700, 40}, d, 2), batch = reals({3, 5, 16}, d, 3);
    check_near(matmul(a.gpu(), b.gpu()), matmul(a, b));
    check_near(matmul(b.gpu(), a.gpu(), {.transpose_a = true, .transpose_b = true}),
               matmul(b, a, {.transpose_a = true, .transpose_b = true}));
    check_near(matmul(batch.gpu(), batch.gpu(), {.transpose_b = true}), matmul(batch, batch, {.transpose_b = true}));
    const Tensor bias = reals({40}, d, 4);

    for (const FusedActivation f :
         {FusedActivation::none, FusedActivation::relu, FusedActivation::tanh, FusedActivation::sigmoid})
      check_near(nn::dense(a.gpu(), b.gpu(), bias.gpu(), {.activation = f}), nn::dense(a, b, bias, {.activation = f}));
  }
}

TEST_CASE("CUDA long: NaN passes through the activation of a product") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, bfloat16}) {
    const Tensor x = cast(constant({{1.f, NAN}, {2.f, -3.f}}), d), w = cast(constant({{1.f, 2.f}, {3.f, 4.f}}), d),
                 b = cast(constant({.5f, -1.f}), d);
    check_near(nn::dense(x.gpu(), w.gpu(), b.gpu(), {.activation = FusedActivation::relu}),
               nn::dense(x, w, b, {.activation = FusedActivation::relu}));
  }
}

TEST_CASE("CUDA long: complex numbers divided by 0 are infinite, or NaN") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({std::complex<float>(1, -2), std::complex<float>(0, 3), std::complex<float>(0, 0)});
  const Tensor zero = zeros({3}, complex64), y = (x.gpu() / zero.gpu()).cpu(), want = x / zero;
  for (int i = 0; i < 3; ++i) {
    const auto a = y.to_vector<std::complex<float>>()[static_cast<unsigned>(i)],
               b = want.to_vector<std::complex<float>>()[static_cast<unsigned>(i)];
    CAPTURE(i, a, b);
    CHECK(std::isinf(a.real()) == std::isinf(b.real()));
    CHECK(std::isinf(a.imag()) == std::isinf(b.imag()));
    CHECK(std::isnan(a.real()) == std::isnan(b.real()));
  }
}

TEST_CASE("CUDA long: a child of a process that uses a GPU says that it cannot") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({1.f, 2.f}).gpu();
  cuda::synchronize();
  const pid_t child = fork();
  if (child == 0) {
    try {
      (void)constant({1.f}).gpu();
      _exit(1);
    } catch (const errors::UnavailableError&) {
      _exit(0);
    } catch (...) {
      _exit(2);
    }
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2});
}

}  // namespace cuda_long_test
