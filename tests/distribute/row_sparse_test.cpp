// Row-sparse gradients of a strategy: as rows, or dense in steps in which that is less. In a simulated cluster.
#include <atomic>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tests/support/catch.hpp"

namespace row_sparse_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using distribute::StrategyOptions;
using distribute::StrategyReport;
using Ids = std::vector<i64>;

enum class Mode { eager, traced, unknown };  // unknown: traced without the number of ids
struct Trained {
  std::vector<float> table;
  StrategyReport::Table report;
};
// Steps of Adam, whose slots a row without a gradient keeps. `ids`: those of each rank and step.
Trained train(i64 rows, Mode mode, const std::vector<std::vector<Ids>>& ids, const StrategyOptions& options = {}) {
  Trained r;
  const auto ranks = static_cast<int>(ids.size());
  std::vector<StrategyReport::Table> reports(ids.size());
  SimCluster(ranks, {.seed = 4}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy(options);
    const auto scope = strategy.scope();
    const Variable table(zeros({rows, 2}), {.name = "words"}), other(zeros({3}));
    const optimizers::Adam adam(0.5);
    const auto step = [&](const Tensor& in) {
      GradientTape tape;
      const Tensor loss = reduce_sum(square(nn::embedding_lookup(table, in) + 1.f)) + reduce_sum(other);
      const std::vector<Gradient> g = tape.gradient(loss, std::vector<Variable>{table, other});
      if (!g[0].is_sparse()) errors::raise<errors::InternalError>("test", "the gradient is dense");
      adam.apply_gradients(g, {table, other});
    };
    auto f = function(step), of_any = function(step, {.input_signature = {TensorSpec({none}, DType::int64)}});
    for (const Ids& own : ids[static_cast<std::size_t>(w.rank())]) {
      const auto in = constant(own);
      mode == Mode::eager ? step(in) : mode == Mode::traced ? f(in) : of_any(in);
    }
    reports[static_cast<std::size_t>(w.rank())] = strategy.report().tables.at(0);
    if (w.rank() == 0) r.table = table.to_vector<float>();
  });
  for (const StrategyReport::Table& t : reports) {
    CHECK(t.dense_calls == reports[0].dense_calls);
    CHECK(t.calls == reports[0].calls);
  }
  r.report = reports[0];
  return r;
}
void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
}

TEST_CASE("a row-sparse gradient travels dense in steps in which all have twice the Variable's rows") {
  // Different rows of all ranks: 8, 9 without row 0, which must stay then, 7, and 2 of the first rank alone.
  const std::vector<std::vector<Ids>> ids{{{0, 1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {2, 1}},
                                          {{0, 1, 1, 2}, {3, 2, 1, 1}, {1, 2, 3}, {}},
                                          {{0}, {1, 2, 3}, {3, 3}, {}}};
  std::vector<std::vector<Ids>> one(1, ids[0]);
  for (std::size_t rank = 1; rank < ids.size(); ++rank)
    for (std::size_t i = 0; i < one[0].size(); ++i)
      one[0][i].insert(one[0][i].end(), ids[rank][i].begin(), ids[rank][i].end());
  for (const Mode mode : {Mode::eager, Mode::traced, Mode::unknown}) {
    INFO(static_cast<int>(mode));
    const Trained whole = train(4, mode, one), divided = train(4, mode, ids), larger = train(5, mode, ids);
    CHECK(whole.report.dense_calls == 0);
    CHECK(whole.report.calls == 4);
    check_near(divided.table, whole.table);
    CHECK(divided.report.dense_calls == 2);
    CHECK(divided.report.calls == 2);
    CHECK(divided.report.rows == 3 + 2);  // of rank 0
    check_near(larger.table, train(5, mode, one).table);
    CHECK(larger.report.dense_calls == 0);
    CHECK(larger.report.rows == 4 + 3 + 3 + 2);
  }
}

TEST_CASE("a Variable without rows has nothing to send") {
  for (const Mode mode : {Mode::eager, Mode::unknown}) {
    const Trained r = train(0, mode, {{{}, {}}, {{}, {}}});
    CHECK(r.table.empty());
    CHECK(r.report.dense_calls == 0);
    CHECK(r.report.calls == 2);
  }
}

TEST_CASE("an index that the Variable does not have raises in all ranks, also where the gradient travels dense") {
  for (const i64 bad : {4, -1}) {
    std::atomic<int> raised = 0;
    SimCluster(3).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      const Variable table(zeros({4, 2}));
      const auto ids = constant(Ids{0, 1, w.rank() == 1 ? bad : 2});
      const Gradient g = IndexedSlices{ones({3, 2}), ids, Tensor(table)};
      CHECK_THROWS_WITH(optimizers::SGD(1.).apply_gradients(std::vector<Gradient>{g}, {table}),
                        ContainsSubstring("sgd_update_sparse"));
      w.barrier();
      ++raised;
    });
    CHECK(raised == 3);
  }
}

// A step that looks up rows of a table, or takes all of it.
struct Step {
  explicit Step(bool is_sparse) : sparse(is_sparse) {}
  void operator()(const Tensor& ids) const {
    GradientTape tape;
    const Tensor loss =
        reduce_sum(sparse ? nn::embedding_lookup(table, ids) : table * cast(reduce_sum(ids), DType::float32));
    sgd.apply_gradients(tape.gradient(loss, {table}), {table});
  }
  bool sparse;
  Variable table{zeros({4, 2}), {.name = "words"}};
  optimizers::SGD sgd{1.};
};

TEST_CASE("a rank may trace a step with row-sparse gradients alone") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Step step(true);
    auto f = function(step);
    const auto ids = constant(Ids{1, 3});
    if (w.rank() == 0) f.get_concrete_function(ids);
    f(ids);
    right += step.table.to_vector<float>() == std::vector<float>{0, 0, -2, -2, 0, 0, -2, -2};
  });
  CHECK(right == 2);
}

TEST_CASE("steps whose gradients are row-sparse in one rank and dense in another one are compared") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Step step(w.rank() == 0);
    auto f = function(step);
    try {
      f(constant(Ids{1, 3}));
    } catch (const errors::FailedPreconditionError& e) {
      right += std::string(e.what()).find("ranks have traced different graphs") != std::string::npos;
    }
  });
  CHECK(right == 2);
}

TEST_CASE("tables of one name are two tables of the report") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Step a(true), b(true);
    for (int i = 0; i < 3; ++i) a(constant(Ids{1})), b(constant(Ids{1, 3}));
    const StrategyReport r = strategy.report();
    right += r.tables.size() == 2 && r.tables[0].variable == "words" && r.tables[0].rows == 3 &&
             r.tables[1].variable == "words (2)" && r.tables[1].rows == 6 && r.tables[1].calls == 3;
    right += r.ranks[0].steps == 3;
  });
  CHECK(right == 4);
}

TEST_CASE("with virtual shards rows are exchanged, and counted") {
  const Trained r = train(2, Mode::eager, {{{0, 0, 1}, {0, 1}}, {{0, 1}, {1, 0, 0}}}, {.virtual_shards = 2});
  CHECK(r.report.dense_calls == 0);
  CHECK(r.report.calls == 2);
  CHECK(r.report.rows == 5);
}

}  // namespace row_sparse_test
