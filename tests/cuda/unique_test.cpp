// unique, setdiff1d and sets on the device against the CPU's: every dtype, NaN, both zeros, sizes of 0, many equal
// ones.
#include <cmath>

#include "tandem/graph/trace/function.hpp"
#include "tests/cuda/device.hpp"

namespace cuda_unique_test {

using namespace tandem;
using namespace gpu_test;

Tensor numbers(i64 n, double low, double high, DType dtype, i64 seed = 1) {
  const DeviceScope host({Device::cpu, 0});
  return cast(floor(random::stateless_uniform({n}, {seed, 3}, {.minval = low, .maxval = high, .dtype = float64})),
              dtype);
}
void check_same(const Tensor& got, const Tensor& want) {
  REQUIRE(got.dtype() == want.dtype());
  REQUIRE(got.shape() == want.shape());
  CHECK(got.device() == gpu);
  CHECK(table_calls::same_bits(got, want));
}
void compare(const Tensor& x) {
  const Tensor there = x.gpu();
  for (const DType index : {int32, int64}) {
    const UniqueWithCounts want = unique_with_counts(x, {.out_idx = index}),
                           got = unique_with_counts(there, {.out_idx = index});
    check_same(got.y, want.y), check_same(got.idx, want.idx), check_same(got.count, want.count);
    check_same(unique(there, {.out_idx = index}).y, want.y);
  }
}
void compare_difference(const Tensor& x, const Tensor& y) {
  const SetDiff1d want = setdiff1d(x, y), got = setdiff1d(x.gpu(), y.gpu());
  check_same(got.out, want.out), check_same(got.idx, want.idx);
}

constexpr DType dtypes_of_elements[] = {float32, float64, float16, bfloat16, complex64, complex128, int8, int16,
                                        int32,   int64,   uint8,   uint16,   uint32,    uint64,     bool_};

TEST_CASE("CUDA unique: every dtype, few and many equal elements, none") {
  TANDEM_NEEDS_GPU;
  for (const DType d : dtypes_of_elements)
    for (const i64 n : {0, 1, 17, 1000})
      for (const double high : {1., 120.}) {
        CAPTURE(name(d), n, high);
        const Tensor x = numbers(n, 0, high, d);
        compare(x);
        compare_difference(x, numbers(n / 2, 0, high / 2, d, 2));
        compare_difference(x, numbers(0, 0, 1, d));
      }
}

TEST_CASE("CUDA unique: NaN equals nothing, and -0 is 0") {
  TANDEM_NEEDS_GPU;
  const float nan = std::nanf("");
  const Tensor x = constant({0.f, nan, -0.f, 1.f, nan, 0.f, -1.f, 1.f}), y = constant({-0.f, nan, 1.f});
  for (const DType d : {float32, float64, float16, bfloat16}) {
    CAPTURE(name(d));
    compare(cast(x, d));
    compare_difference(cast(x, d), cast(y, d));
  }
  const Tensor z = tandem::complex(x, constant({0.f, 1.f, -0.f, nan, 2.f, 0.f, 3.f, nan}));
  compare(z);
  compare_difference(z, z);
}

TEST_CASE("CUDA unique: large numbers, and multiples of powers of two") {
  TANDEM_NEEDS_GPU;
  compare(constant(std::vector<i64>{INT64_MIN, INT64_MAX, -1, 0, INT64_MIN, -1, i64(1) << 32, 0, i64(1) << 33}));
  compare(numbers(many, 0, 5, int64));
  compare(numbers(many, -1e9, 1e9, int64));
  compare(numbers(many, 0, static_cast<double>(many), float32) * 4096.f);
  compare(constant(7).gpu().cpu() + zeros({many}, {.dtype = int32}));
}

TEST_CASE("CUDA unique: sets") {
  TANDEM_NEEDS_GPU;
  const Tensor a = stack({numbers(9, 0, 6, int64), numbers(9, 0, 3, int64, 2)}),
               b = stack({numbers(5, 0, 6, int64, 3), numbers(5, 0, 3, int64, 4)}), there = a.gpu(), other = b.gpu();
  for (const auto& f : {&sets::intersection, &sets::union_}) {
    check_same(f(there, other, {}).values, f(a, b, {}).values);
    check_same(f(there, other, {}).row_lengths, f(a, b, {}).row_lengths);
  }
  check_same(sets::difference(there, other).values, sets::difference(a, b).values);
  check_same(sets::size(there), sets::size(a));
}

TEST_CASE("CUDA unique: traced, and waits for nothing but the number of results") {
  TANDEM_NEEDS_GPU;
  const Tensor x = numbers(50, 0, 9, int64), want = unique(x).y, there = x.gpu();
  const auto f = function([](const Tensor& t) { return unique(t).y + 1; });
  for (int i = 0; i < 3; ++i) check_same(f(there), want + 1);
  const std::uint64_t before = cuda::hidden_synchronizations();
  (void)unique(there);
  CHECK(cuda::hidden_synchronizations() == before + 1);
}

}  // namespace cuda_unique_test
