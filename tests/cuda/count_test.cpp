// Ops on a GPU whose sizes depend on data, or that count: many elements, and values that they reject.
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

TEST_CASE("CUDA: positions, repeats and counts of many elements are the CPU's") {
  TANDEM_NEEDS_GPU;
  const Tensor x = gpu_test::reals({many}), ids = cast(x * 50 + 50, int32), some = x > 0.4;
  const auto same = [](const auto& f, const auto&... t) { CHECK(table_calls::same_bits(f(t.gpu()...), f(t...))); };
  same([](const Tensor& t) { return where(t); }, some);
  same([](const Tensor& t) { return where(reshape(t, {-1, 3, 20})); }, some);
  same([](const Tensor& t, const Tensor& m) { return boolean_mask(t, m); }, x, some);
  same([](const Tensor& t, const Tensor& n) { return repeat(t, n); }, x, cast(some, int32) * 2);
  same([](const Tensor& t) { return bincount(t); }, ids);
  same([](const Tensor& t) { return bincount(reshape(t, {-1, 20}), {.axis = -1, .binary_output = true}); }, ids);
  same([](const Tensor& t) { return histogram_fixed_width(t, {-0.5, 0.7}, {.nbins = 40}); }, x);
  same([](const Tensor& a, const Tensor& b) { return confusion_matrix(a, b); }, ids, reverse(ids, {0}));
  same([](const Tensor& t) { return sequence_mask(t); }, ids(Slice(0, 300)));
  const Tensor sorted = sort(ids), weights = x;
  check_near(segment_sum(weights.gpu(), sorted.gpu()), segment_sum(weights, sorted));
  check_near(confusion_matrix(ids.gpu(), ids.gpu(), {.weights = weights.gpu()}),
             confusion_matrix(ids, ids, {.weights = weights}));
  const auto parts = [&](const Tensor& t, const Tensor& n) { return dynamic_partition(t, n, 101); };
  const auto got = parts(x.gpu(), ids.gpu()), want = parts(x, ids);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(table_calls::same_bits(got[i], want[i]));
}

TEST_CASE("CUDA: bad numbers of counts, segments, partitions and permutations are reported") {
  TANDEM_NEEDS_GPU;
  const auto rejects = [](const auto& f, const char* text) {
    CHECK_THROWS_WITH((f(), cuda::synchronize()), ContainsSubstring(text));
    CHECK_NOTHROW(cuda::synchronize());
  };
  const Tensor ids = constant({0, 2, 1, 5}).gpu(), x = constant({1.f, 2.f, 3.f, 4.f}).gpu();
  rejects([&] { return segment_sum(x, ids); }, "segment_sum: the segment id at position 2 follows a larger one");
  rejects([&] { return segment_max(x, ids - 1); }, "segment_max: the segment id at position 0 is negative");
  rejects([&] { return bincount(ids - 1); }, "bincount: the value at position 0 is negative");
  rejects([&] { return confusion_matrix(ids, ids, {.num_classes = 5}); },
          "confusion_matrix: index 5 at position 3 is out of range [0, 5)");
  rejects([&] { return dynamic_partition(x, ids, 4); }, "dynamic_partition: index 5 at position 3");
  rejects([&] { return dynamic_stitch({ids - 1}, {x}); }, "dynamic_stitch: index -1 at position 0");
  rejects([&] { return repeat(x, ids - 1); }, "the number of repeats at position 0 is negative");
  rejects([&] { return invert_permutation(ids); }, "invert_permutation: index 5 at position 3");
  rejects([&] { return invert_permutation(constant({0, 1, 1}).gpu()); }, "occurs more than once");
  rejects([&] { return unravel_index(ids, {2, 2}); }, "unravel_index: index 5 at position 3");
  rejects([&] { return histogram_fixed_width(x, constant({1.f, 1.f}).gpu()); }, "histogram_fixed_width: element 0");
}

TEST_CASE("CUDA: the op check_numerics, which traced functions run, reports at the next wait") {
  TANDEM_NEEDS_GPU;
  const auto check = [](const Tensor& x) {
    return apply1(check_numerics_op, rules::CheckNumericsAttrs{"the loss"}, no_options, x);
  };
  for (const DType d : {float32, float64, float16, bfloat16}) {
    CAPTURE(name(d));
    const Tensor x = constant({1., -2., 3.}, {.dtype = d}).gpu();
    CHECK(table_calls::same_bits(check(x), x));
    (void)check(x / constant({1., 0., 0.}, {.dtype = d}).gpu());
    CHECK_THROWS_WITH(cuda::synchronize(),
                      ContainsSubstring("check_numerics: element") && ContainsSubstring("is not finite: the loss"));
  }
}
