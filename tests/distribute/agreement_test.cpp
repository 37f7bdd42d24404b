// Traced functions are compared between ranks before they run: what differs, and what may.
#include <atomic>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optimizers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace agreement_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;

// What each of three ranks raises in a step whose error f(rank, x, weight) computes for x(rank).
template <class X, class F>
std::vector<std::string> errors_of(const X& x, const F& f, distribute::StrategyOptions options = {}) {
  SimCluster cluster(3, {.timeout = 5});
  std::vector<std::string> r(3);
  cluster.run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy(options);
    const auto scope = strategy.scope();
    const Variable weight(ones({2, 2}), {.name = "weight"});
    const optimizers::SGD sgd(0.1);
    const auto step = function(
        [&](const Tensor& batch) {
          GradientTape tape;
          const Tensor loss = reduce_mean(square(f(w.rank(), batch, weight)));
          sgd.apply_gradients(tape.gradient(loss, std::vector<Variable>{weight}), {weight});
          return loss;
        },
        {.name = "step"});
    r[static_cast<std::size_t>(w.rank())] = testing::error_of([&] { step(x(w.rank())), step(x(w.rank())); });
  });
  return r;
}
const auto same_rows = [](int) { return ones({4, 2}); };
const auto product = [](int, const Tensor& x, const Variable& w) { return matmul(x, w); };

TEST_CASE("ranks with equal graphs train") {
  for (const std::string& e : errors_of(same_rows, product)) CHECK(e == "no error");
}
TEST_CASE("a rank with another graph: all raise, with the first node that differs and both lines") {
  const int line = __LINE__ + 2;
  const auto errors = errors_of(same_rows, [](int rank, const Tensor& x, const Variable& w) {
    if (rank == 1) return tanh(matmul(x, w));
    return nn::relu(matmul(x, w));
  });
  for (const std::string& e : errors) {
    CHECK_THAT(e, ContainsSubstring("step: ranks have traced different graphs: node "));
    CHECK_THAT(e, ContainsSubstring("of rank 0 is 'Relu") && ContainsSubstring("(relu) float32[4,2]"));
    CHECK_THAT(e, ContainsSubstring("of rank 1 'Tanh") && ContainsSubstring("(tanh) float32[4,2]"));
    CHECK_THAT(e, ContainsSubstring("agreement_test.cpp:" + std::to_string(line)));
    CHECK_THAT(e, ContainsSubstring("agreement_test.cpp:" + std::to_string(line + 1)));
    CHECK_THAT(e, ContainsSubstring("compare_graphs = false"));
  }
}
TEST_CASE("ranks with other attributes, columns, dtypes, or one op more") {
  const auto differs = [](const auto& x, const auto& f, const std::string& text) {
    for (const std::string& e : errors_of(x, f)) CHECK_THAT(e, ContainsSubstring(text));
  };
  differs(
      same_rows,
      [](int rank, const Tensor& x, const Variable& w) {
        return cumsum(matmul(x, w), {.axis = 0, .reverse = rank == 2});
      },
      "of rank 2 '");
  differs(
      [](int rank) {
        return ones({4, rank == 1 ? 3 : 2});
      },
      [](int, const Tensor& x, const Variable& w) { return x(Ellipsis, 0) * reduce_sum(w); }, "float32[4,3]");
  differs(
      [](int rank) {
        return ones({4, 2}, rank == 1 ? DType::float64 : DType::float32);
      },
      [](int, const Tensor& x, const Variable& w) { return matmul(cast(x, DType::float32), w); }, "float64[4,2]");
  differs(
      same_rows,
      [](int rank, const Tensor& x, const Variable& w) { return rank == 1 ? square(matmul(x, w)) : matmul(x, w); },
      "of rank 1 ");
}
TEST_CASE("a body of control flow that differs") {
  const auto errors = errors_of(same_rows, [](int rank, const Tensor& x, const Variable& w) {
    const Tensor y = matmul(x, w);
    return cond(
        reduce_sum(y) > 0.f, [&] { return rank == 1 ? exp(y) : sin(y); }, [&] { return y; });
  });
  for (const std::string& e : errors) CHECK_THAT(e, ContainsSubstring("(sin)") && ContainsSubstring("(exp)"));
}
TEST_CASE("numbers of rows, constants, slices and unequal retraces may differ") {
  const auto agree = [](const auto& x, const auto& f) {
    for (const std::string& e : errors_of(x, f)) CHECK(e == "no error");
  };
  agree([](int rank) { return ones({3 + rank, 2}); }, product);
  agree(same_rows, [](int rank, const Tensor& x, const Variable& w) {
    return matmul(x, w) * cast(constant(rank), DType::float32);
  });
  agree(same_rows,
        [](int rank, const Tensor& x, const Variable& w) { return matmul(x(Slice(rank, rank + 1)), w) + x(rank); });
  for (const std::string& e : errors_of(
           same_rows, [](int rank, const Tensor&x, const Variable&w) { return rank ? matmul(x, w) : matmul(x, w) + w; },
           {.compare_graphs = false}))
    CHECK(e.find("different graphs") == std::string::npos);
  int calls = 0;
  agree([&](int rank) { return ones({rank == 1 && calls++ ? 5 : 4, 2}); }, product);  // rank 1 alone traces again
}
TEST_CASE("one small operation for each function, none for each step or trace") {
  const auto seconds = [](int steps, bool compare) {
    SimCluster cluster(2, {.latency = 1, .bytes_per_second = 1e12, .jitter = 0, .timeout = 1e4});
    cluster.run([&](const Communicator& w) {
      for (int i = 0; i < 100; ++i) w.barrier();  // the first 100 operations are compared
      const MultiWorkerMirroredStrategy strategy({.compare_graphs = compare});
      const auto scope = strategy.scope();
      const Variable weight(ones({2, 2}));
      const optimizers::SGD sgd(0.1);
      const auto step = function([&](const Tensor& x) {
        GradientTape tape;
        sgd.apply_gradients(tape.gradient(reduce_sum(matmul(x, weight)), std::vector<Variable>{weight}), {weight});
      });
      for (int i = 0; i < steps; ++i) step(ones({1 + i / 2, 2}));
    });
    return cluster.time();
  };
  CHECK(seconds(10, false) - seconds(6, false) == Approx(4 * 2));  // an all_reduce of two ranks: two messages
  CHECK(seconds(10, true) - seconds(6, true) == Approx(4 * 2));
  CHECK(seconds(6, true) - seconds(6, false) == Approx(1));  // an all_gather
}
TEST_CASE("a function of a group of some ranks is not compared with the others") {
  std::atomic<int> right = 0;
  SimCluster(3, {.timeout = 5}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Communicator some = w.split(w.rank() < 2 ? 0 : 1);
    if (w.rank() < 2) {
      const auto f = function([&](const Tensor& x) { return distribute::all_reduce(x, {.group = some}); });
      right += f(constant(1.f)).item<float>() == 2;
    }
    w.barrier();
  });
  CHECK(right == 2);
}
TEST_CASE("a rank with a single row, which broadcasts, is not another program") {
  const auto rows = [](int rank) { return ones({rank == 0 ? 2 : 1, 2}); };
  const auto scaled = [](int, const Tensor& x, const Variable& w) { return x * w(Slice(0, 1)); };
  for (const std::string& e : errors_of(rows, scaled)) CHECK(e == "no error");
}
TEST_CASE("the gradient of broadcast is the same graph in all ranks") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const auto f = function([&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(reduce_sum(distribute::broadcast(x, {.root = 1})), x);
    });
    right += f(ones({2})).to_vector<float>() == std::vector<float>(2, w.rank() == 1 ? 3.f : 0.f);
  });
  CHECK(right == 3);
}

}  // namespace agreement_test
