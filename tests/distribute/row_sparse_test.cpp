// Row-sparse gradients of a strategy: as rows, or dense where most rows would travel. In a simulated cluster.
#include <atomic>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/base/warning.hpp"
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

std::atomic<int> warnings = 0;
void count_warning(const char* text) {
  if (std::string(text).find("distribute: the row-sparse gradient of 'words' travels dense") == 0) ++warnings;
}

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
    CHECK(t.is_dense == reports[0].is_dense);
    CHECK(t.first_rows == reports[0].first_rows);
  }
  r.report = reports[0];
  return r;
}
void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
}

TEST_CASE("a row-sparse gradient travels dense from half of the rows on, and updates its own rows alone") {
  // The rows of the second step are others: row 0, which then has no gradient, must stay.
  const std::vector<std::vector<Ids>> ids{{{0, 0}, {2, 3}}, {{0, 1}, {2, 3, 3}}}, one{{{0, 0, 0, 1}, {2, 3, 2, 3, 3}}};
  for (const i64 rows : {6, 7}) {
    const Trained whole = train(rows, Mode::eager, one);
    CHECK(!whole.report.is_dense);
    CHECK(whole.report.first_rows == -1);
    const Trained eager = train(rows, Mode::eager, ids);
    check_near(eager.table, whole.table);
    CHECK(eager.report.is_dense == (rows == 6));
    CHECK(eager.report.first_rows == 3);  // 0, and 0 and 1
    CHECK(eager.report.of_rows == rows);
    CHECK(eager.report.calls == (rows == 6 ? 0 : 2));
    CHECK(eager.report.rows == (rows == 6 ? 0 : 1 + 2));  // of rank 0
  }
}

TEST_CASE("a traced step decides by the sizes that it knows, and exchanges rows without them") {
  const std::vector<std::vector<Ids>> ids{{{0, 0}, {2, 3}}, {{0, 1}, {2, 3, 3}}};
  for (const i64 rows : {8, 9}) {
    const Trained eager = train(rows, Mode::eager, ids), traced = train(rows, Mode::traced, ids),
                  unknown = train(rows, Mode::unknown, ids);
    CHECK(!eager.report.is_dense);
    check_near(traced.table, eager.table);
    CHECK(traced.report.is_dense == (rows == 8));
    CHECK(traced.report.first_rows == 4);
    check_near(unknown.table, eager.table);
    CHECK(!unknown.report.is_dense);
    CHECK(unknown.report.first_rows == -1);
    CHECK(unknown.report.rows == 3);
  }
}

TEST_CASE("ranks decide alike where their numbers of rows differ, and rank 0 says so once") {
  warnings = 0;
  set_warning_handler(&count_warning);
  for (const Mode mode : {Mode::eager, Mode::traced}) {
    // The first rank alone has half of the rows, the last one none.
    const Trained r = train(8, mode, {{{0, 1, 2, 3}, {1}}, {{0}, {1, 2}}, {{}, {}}});
    CHECK(r.report.is_dense);
    CHECK(r.report.first_rows == 5);
    check_near(r.table, train(8, Mode::eager, {{{0, 1, 2, 3, 0}, {1, 1, 2}}}).table);
  }
  set_warning_handler(nullptr);
  CHECK(warnings == 2);
}

TEST_CASE("with virtual shards rows are exchanged, and counted") {
  const Trained r = train(4, Mode::eager, {{{0, 0}, {2, 3}}, {{0, 1}, {2, 3, 3}}}, {.virtual_shards = 2});
  CHECK(!r.report.is_dense);
  CHECK(r.report.calls == 2);
  CHECK(r.report.rows == 4);
}

}  // namespace row_sparse_test
