// MultiWorkerMirroredStrategy::report() in a simulated cluster, whose clock only messages and faults move.
#include "tandem/distribute/report.hpp"

#include <atomic>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

namespace report_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using distribute::SimOptions;
using distribute::StrategyReport;

const StrategyReport::Operation& operation(const StrategyReport& r, const std::string& name) {
  for (const StrategyReport::Operation& o : r.operations)
    if (o.name == name) return o;
  errors::raise<errors::NotFoundError>("test", "no operation " + name + " in\n" + to_string(r));
}

constexpr i64 size = 100'000;
// The report of each rank after steps with two buckets of 400 kB.
std::vector<StrategyReport> after_steps(int ranks, int steps, bool traced, bool tells, const SimOptions& options = {}) {
  std::vector<StrategyReport> r(static_cast<std::size_t>(ranks));
  SimCluster(ranks, options).run([&](const Communicator& w) {
    // The first 100 operations are compared, which is a wait, too.
    for (int i = 0; i < 110; ++i) w.barrier();
    const MultiWorkerMirroredStrategy strategy({.bucket_bytes = 4 * size, .first_bucket_bytes = 4 * size});
    const auto scope = strategy.scope();
    const Variable a(zeros({size}), {.name = "a"}), b(zeros({size}), {.name = "b"});
    const optimizers::SGD sgd(1.0);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      sgd.apply_gradients(tape.gradient(reduce_sum(a * x) + reduce_sum(b * x), {a, b}), {a, b});
    };
    auto f = function(step);
    const Tensor x = ones({size});
    for (int i = 0; i < steps; ++i) {
      if (tells) w.set_step(i);
      traced ? f(x) : step(x);
    }
    r[static_cast<std::size_t>(w.rank())] = strategy.report();
  });
  return r;
}

TEST_CASE("buckets have an eighth of all bytes, within the sizes that the options give") {
  const auto buckets = [](const distribute::StrategyOptions& options) {
    std::size_t n = 0;
    SimCluster(2).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy(options);
      const auto scope = strategy.scope();
      std::vector<Variable> weights;
      for (int i = 0; i < 16; ++i) weights.emplace_back(zeros({96}));
      optimizers::SGD(1.0).apply_gradients(std::vector<Gradient>(16, Gradient(ones({96}))), weights);
      const StrategyReport report = strategy.report();
      if (w.rank() == 0)
        for (const StrategyReport::Operation& o : report.operations) n += o.name.find("bucket ") != std::string::npos;
    });
    return n;
  };
  CHECK(buckets({}) == 1);
  CHECK(buckets({.first_bucket_bytes = 384}) == 9);  // one gradient, then two at a time
  CHECK(buckets({.bucket_bytes = 384, .first_bucket_bytes = 384}) == 16);
  CHECK(buckets({.first_bucket_bytes = 4 * 384}) == 4);
  CHECK(buckets({.first_bucket_bytes = 384, .virtual_shards = 2}) == 2);  // nothing travels early
}

TEST_CASE("report: a step is computation and exposed communication; buckets have bytes, flight and waits") {
  for (const bool traced : {false, true})
    for (const bool tells : {false, true}) {
      INFO(traced << tells);
      const std::vector<StrategyReport> all = after_steps(3, 4, traced, tells);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const StrategyReport& r = all[i];
        CHECK(r.rank == static_cast<int>(i));
        REQUIRE(r.ranks.size() == 3);
        for (const StrategyReport::Rank& rank : r.ranks) {
          CHECK(rank.steps == 4);
          CHECK(rank.exposed > 0.5e-3);  // 2 * 2/3 * 400 kB at 1 GB/s, for both buckets at the same time
          CHECK(rank.compute() == Approx(0).margin(1e-6));
        }
        const auto& first = operation(r, "all_reduce bucket 1 of 2 (400.0 kB, 'b')");
        const auto& second = operation(r, "all_reduce bucket 2 of 2 (400.0 kB, 'a')");
        for (const auto* o : {&first, &second}) {
          CHECK(o->calls == 4);
          CHECK(o->bytes == 4 * 4 * size);
          CHECK(o->seconds > 4 * 0.5e-3);
        }
        CHECK(first.exposed > 4 * 0.5e-3);
        CHECK(second.exposed < second.seconds);  // it travelled while the process waited for the first one
        const std::string text = to_string(r);
        CHECK_THAT(text, ContainsSubstring("rank 1: 4 steps of ") &&
                             ContainsSubstring("all_reduce bucket 2 of 2 (400.0 kB, 'a'): 4 calls, 400.0 kB, "));
      }
    }
}

TEST_CASE("report: the slowest process waits least") {
  const SimOptions options{.faults = {{.kind = distribute::SimFault::slow, .rank = 2, .at = 210, .seconds = 0.01}}};
  for (const StrategyReport& r : after_steps(4, 5, true, true, options)) {
    CHECK(r.slowest() == 2);
    CHECK(r.ranks[2].compute() > 0.01);
    CHECK(r.ranks[1].compute() < 0.001);
    CHECK(r.ranks[1].exposed > r.ranks[2].exposed + 0.01);
    CHECK_THAT(to_string(r), ContainsSubstring("(the slowest)"));
  }
}

TEST_CASE("report: counts from the strategy's making, or from reset_report") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator& w) {
    distribute::all_reduce(constant(1.f), {.name = "before"});
    const MultiWorkerMirroredStrategy strategy;
    const StrategyReport none = strategy.report();
    right += none.operations.empty() && none.slowest() == -1 && none.ranks[0].steps == 0 && none.ranks[0].step == 0;
    for (int i = 0; i < 3; ++i) {
      w.set_step(i);
      distribute::all_reduce(constant({1.f, 2.f}), {.name = "in steps"});
    }
    const StrategyReport three = strategy.report();
    right += three.ranks[1].steps == 3 && operation(three, "all_reduce 'in steps'").bytes == 24;
    right += operation(three, "all_gather 'report'").calls == 1;  // the one before
    strategy.reset_report();
    right += strategy.report().operations.empty();
  });
  CHECK(right == 8);
}

TEST_CASE("report: steps of a program that does not tell of them begin where a bucket comes again") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable a(zeros({2}), {.name = "a"}), b(zeros({2}), {.name = "b"});
    const optimizers::SGD first(1.0), second(1.0);
    const Gradient g(ones({2}));
    for (int i = 0; i < 3; ++i) {
      first.apply_gradients(std::vector<Gradient>{g}, {a});
      second.apply_gradients(std::vector<Gradient>{g}, {b});
    }
    right += strategy.report().ranks[1].steps == 3;
    // From here on they travel together: where they do so again is a step.
    for (int i = 0; i < 3; ++i) first.apply_gradients(std::vector<Gradient>{g, g}, {a, b});
    right += strategy.report().ranks[1].steps == 5;
  });
  CHECK(right == 4);
}

TEST_CASE("report: numbers in words") {
  StrategyReport r;
  r.ranks.push_back({.steps = 1});
  r.operations.push_back({.name = "all_reduce 'x'", .calls = 1});
  r.tables.push_back({.variable = "words", .calls = 1, .rows = 1, .dense_calls = 1});
  CHECK_THAT(to_string(r), ContainsSubstring("rank 0: 1 step\n") && ContainsSubstring("all_reduce 'x': 1 call, ") &&
                               ContainsSubstring("'words': 1 row sent in 1 call, dense in 1 call\n"));
}

TEST_CASE("report: the rows of row-sparse gradients that were sent") {
  for (const bool traced : {false, true}) {
    INFO(traced);
    std::atomic<int> right = 0;
    SimCluster(3).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      const Variable table(zeros({100, 2}), {.name = "words"});
      const optimizers::SGD sgd(1.0);
      const auto step = [&](const Tensor& ids) {
        GradientTape tape;
        sgd.apply_gradients(tape.gradient(reduce_sum(nn::embedding_lookup(table, ids)), {table}), {table});
      };
      auto f = function(step);
      const auto ids = constant(std::vector<i64>{w.rank(), 5, 5});  // the two equal ones travel as one
      for (int i = 0; i < 4; ++i) traced ? f(ids) : step(ids);
      const StrategyReport r = strategy.report();
      right += r.tables.size() == 1 && r.tables[0].variable == "words";
      right += r.tables[0].calls == 4 && r.tables[0].rows == 8;
      right += r.ranks[0].steps == 4;
      right += to_string(r).find("'words': 8 rows sent in 4 calls\n") != std::string::npos;
    });
    CHECK(right == 12);
  }
}

}  // namespace report_test
