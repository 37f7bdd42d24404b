// Buckets of gradients: in a planned program the gradients are computed in the buffer that travels, and the sums are
// read there. In a simulated cluster.
#include "tandem/distribute/bucket.hpp"

#include <atomic>
#include <string>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bucket_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using Floats = std::vector<float>;

i64 copied(const Communicator& world, i64 bucket = 0) { return distribute::impl::bucket_of(world, bucket).copied; }

struct Trained {
  Floats weights;
  std::vector<i64> copied;  // bytes of each rank in the last step
};
// Small integers without a pattern.
Tensor integers(const Shape& shape) {
  Floats r(static_cast<std::size_t>(shape.known_size()));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<float>(7 * i % 3) - 1;
  return constant(r, {.shape = shape});
}

enum class Mode { eager, planned, interpreted };
// Steps of a small convolutional network, whose numbers are so small that all sums are exact: any order of them, and
// any way to compute them, gives the same bits.
Trained train(int ranks, Mode mode) {
  Trained r;
  r.copied.resize(static_cast<std::size_t>(ranks));
  SimCluster(ranks, {.seed = 3}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable filter(integers({3, 3, 1, 2})), a(integers({8, 3})), b(integers({3})), scale(2.f);
    const optimizers::SGD sgd(0.5);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      const Tensor y = nn::conv2d(x, filter);
      const Tensor z = matmul(reshape(nn::relu(y), {-1, 8}), a) * scale + b;
      const std::vector<Variable> all{filter, a, b, scale};
      sgd.apply_gradients(tape.gradient(reduce_sum(z * x(0, 0, 0, 0)), all), all);
      return mode == Mode::interpreted ? boolean_mask(z, z > 0.f) : z;  // of sizes that no plan knows
    };
    auto f = function(step);
    const Tensor x = integers({1, 4, 4, 1}) - static_cast<float>(w.rank());
    for (int i = 0; i < 2; ++i) mode == Mode::eager ? step(x) : f(x);
    r.copied[static_cast<std::size_t>(w.rank())] = copied(w);
    if (w.rank() == 0)
      r.weights =
          concat({reshape(Tensor(filter), {-1}), reshape(Tensor(a), {-1}), Tensor(b), reshape(Tensor(scale), {1})}, 0)
              .to_vector<float>();
  });
  return r;
}

TEST_CASE("bucket: gradients of a planned program are computed in the buffer that travels") {
  const Trained eager = train(2, Mode::eager), planned = train(2, Mode::planned);
  CHECK(planned.weights == eager.weights);
  CHECK(eager.copied == std::vector<i64>(2, 4 * (18 + 24 + 3 + 1)));
  CHECK(planned.copied == std::vector<i64>(2, 0));
  const Trained interpreted = train(2, Mode::interpreted);
  CHECK(interpreted.weights == eager.weights);
}

TEST_CASE("bucket: a gradient that is read afterwards, or returned, is not overwritten by the sum") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable a(zeros({20})), b(zeros({30})), c(zeros({40}));
    const optimizers::SGD sgd(1.0);
    auto f = function([&](const Tensor& x) {
      GradientTape tape;
      const Tensor loss = reduce_sum(a) * x + reduce_sum(b) * (x * x) + reduce_sum(c) * 2.f * x;
      const std::vector<Variable> all{a, b, c};
      const std::vector<Gradient> g = tape.gradient(loss, all);
      sgd.apply_gradients(g, all);
      return std::vector<Tensor>{g[0].dense(), reduce_sum(g[1].dense() * b)};
    });
    const auto r = static_cast<float>(w.rank() + 1);
    for (int i = 0; i < 2; ++i) {
      const std::vector<Tensor> own = f(constant(r));
      const float k = static_cast<float>(i + 1);
      right += reduce_all(equal(own[0], r)).item<bool>() && own[1].item<float>() == 30 * r * r * -14 * k;
      right += reduce_all(equal(a, -6 * k)).item<bool>() && reduce_all(equal(c, -12 * k)).item<bool>();
    }
  });
  CHECK(right == 12);
}

TEST_CASE("bucket: the sums of a step may be returned, and stay what they are") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator& w) {
    auto f = function([&](const Tensor& x) {
      const std::vector<Tensor> in{x * 2.f, exp(x * 0.f)};
      return distribute::impl::wait_bucket(w, 0, "bucket", distribute::impl::start_bucket(w, 0, "bucket", in), in);
    });
    const auto r = static_cast<float>(w.rank() + 1);
    const std::vector<Tensor> first = f(constant({r, r})), second = f(constant({10 * r, r}));
    right += first[0].to_vector<float>() == Floats{6, 6} && first[1].to_vector<float>() == Floats{2, 2};
    right += second[0].to_vector<float>() == Floats{60, 6} && copied(w) == 0;
  });
  CHECK(right == 4);
}

TEST_CASE("bucket: a call that fails between its begin and its end leaves its memory to what writes") {
  for (const bool planned : {true, false}) {
    INFO(planned);
    std::atomic<int> right = 0;
    SimCluster(2).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy({.first_bucket_bytes = 1});
      const auto scope = strategy.scope();
      const Variable a(zeros({20})), b(zeros({30}));
      const optimizers::SGD sgd(1.0);
      const Tensor table = constant({1.f, 2.f});
      auto f = function([&](const Tensor& x, const Tensor& row) {
        GradientTape tape;
        const auto checked = [&](const Tensor& v) {  // its gradient, the last one, fails where there is no such row
          return custom_gradient(
              [&](const Tensor& y) {
                return std::pair(y * 1.f, [&, row](const Tensor& g) { return g * gather(table, row); });
              },
              v);
        };
        const Tensor y = checked(a);
        const Tensor loss = reduce_sum(tanh(y)) + reduce_sum(b * x);
        sgd.apply_gradients(tape.gradient(loss, {a, b}), {a, b});
        return planned ? y : boolean_mask(y, y > 0.f);
      });
      f(constant(1.f), constant(0));
      const std::string error = testing::error_of([&] { f(constant(1.f), constant(7)); });
      right += error.find("gather") != std::string::npos;
      // The first bucket, that of b, has been begun, and is still there.
      const distribute::impl::Bucket& bucket = distribute::impl::bucket_of(w, 0);
      right += bucket.running && bucket.held.is_set() && bucket.held.raw() == bucket.memory;
      f(constant(1.f), constant(1));
      right += reduce_all(equal(b, -4.f)).item<bool>() && !bucket.held.is_set();
    });
    CHECK(right == 6);
  }
}

TEST_CASE("bucket: a call that fails does not wait for ranks that do not come") {
  for (const bool planned : {true, false}) {
    INFO(planned);
    SimCluster cluster(2);
    std::string error;
    testing::error_of([&] {
      cluster.run([&](const Communicator& w) {
        const Tensor table = constant({1.f, 2.f});
        auto f = function([&](const Tensor& x, const Tensor& row) {
          const std::vector<Tensor> in{x * 2.f};
          const Tensor begun = distribute::impl::start_bucket(w, 0, "bucket", in);
          const Tensor z = gather(table, row);
          const Tensor y = distribute::impl::wait_bucket(w, 0, "bucket", begun, in)[0] * z;
          return planned ? y : boolean_mask(y, y > 0.f);
        });
        // The first operations of a group are compared, which waits.
        for (int i = 0; i < 110; ++i) f(constant({1.f, 1.f}), constant(0));
        if (w.rank() == 1) return;
        try {
          f(constant({1.f, 1.f}), constant(7));
        } catch (const errors::OpError& e) {
          error = e.what();
          throw;
        }
      });
    });
    CHECK_THAT(error, ContainsSubstring("gather"));
    CHECK(cluster.time() < 10);
  }
}

}  // namespace bucket_test
