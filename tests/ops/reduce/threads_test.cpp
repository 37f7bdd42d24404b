// Sums, products, extremes and places are the same, bit for bit, on 1, 2 and 5 threads, and on every instruction set
// where the operation is exact.
#include "loops.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tests/support/catch.hpp"

namespace threads_test {
using namespace tandem;

std::vector<float> all_of(const Tensor& x) {
  std::vector<float> r;
  const auto take = [&](const Tensor& t) {
    const auto v = t.to_vector<float>();
    r.insert(r.end(), v.begin(), v.end());
  };
  for (std::uint32_t mask = 1; mask < 1u << x.rank(); ++mask) {
    const ReduceOptions o{.axis = loops::axes_of(x.rank(), mask)};
    take(reduce_sum(x, o));
    take(reduce_mean(x, o));
    take(reduce_max(x, o));
    take(reduce_logsumexp(x, o));
    take(reduce_variance(x, o));
    take(reduce_euclidean_norm(x, o));
  }
  for (int axis = 0; axis < x.rank(); ++axis) take(cumsum(x, axis));
  return r;
}

TEST_CASE("reductions do not depend on the number of threads") {
  for (const Shape& s :
       {Shape{400000}, Shape{3, 150000}, Shape{150000, 3}, Shape{600, 700}, Shape{20, 30, 800}, Shape{300, 5, 200}}) {
    const Tensor x = loops::random(s, 13);
    INFO(to_string(s));
    config::set_intra_op_parallelism_threads(1);
    const auto one = all_of(x);
    for (int threads : {2, 5}) {
      config::set_intra_op_parallelism_threads(threads);
      CHECK(all_of(x) == one);
    }
    config::set_intra_op_parallelism_threads(0);
  }
}

TEST_CASE("every instruction set gives the same sums of integers, extremes and places") {
  const int best = cpu::best_isa();
  for (const Shape& s : {Shape{5000}, Shape{37, 41}, Shape{7, 300, 5}}) {
    const Tensor x = loops::random(s, 19), n = loops::random_ints(s, 20, DType::int32, -9, 9);
    std::vector<std::vector<double>> seen;
    for (int level = 0; level <= best; ++level) {
      cpu::isa_level.store(static_cast<signed char>(level));
      std::vector<double> r;
      for (int axis = 0; axis < s.rank(); ++axis)
        for (const Tensor& t : {reduce_sum(n, axis), reduce_max(x, axis), reduce_min(x, axis), argmax(x, axis),
                                argmin(x, axis), cumsum(n, axis), reduce_prod(n, axis)}) {
          const auto v = loops::numbers(t);
          r.insert(r.end(), v.begin(), v.end());
        }
      seen.push_back(r);
    }
    cpu::isa_level.store(static_cast<signed char>(best));
    for (const auto& r : seen) CHECK(r == seen[0]);
  }
}

}  // namespace threads_test
