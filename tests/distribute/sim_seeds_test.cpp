// Ten small distributed programs in simulated clusters of 2 to 8 ranks, whose order, sizes and faults a seed draws:
// each checks its results by arithmetic, none waits forever, and what is lost is said.
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sharded_embedding.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace sim_seeds_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::ReduceOp;
using distribute::SimCluster;
using distribute::SimFault;
using Ints = std::vector<i64>;

// Numbers of a seed, the same in all ranks.
class Draw {
 public:
  explicit Draw(u64 seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  i64 below(i64 n) {
    state_ += 0x9e3779b97f4a7c15u;
    u64 x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<i64>((x ^ (x >> 31)) % static_cast<u64>(n));
  }

 private:
  u64 state_;
};

// What outlives a rank that is killed: a file.
struct Disk {
  i64 step = 0, value = 1;
};
struct Context {
  const Communicator& world;
  Draw draw;
  Disk& disk;
  i64 rank() const { return world.rank(); }
  i64 size() const { return world.size(); }
};
using Body = void (*)(Context&);

void expect(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}
void expect(const Tensor& x, const Ints& wanted, const char* what) {
  expect(cast(x, DType::int64).to_vector<i64>() == wanted, what);
}
// Element i of a rank: small whole numbers, sums of which are exact in every dtype.
i64 element(i64 rank, i64 i) { return 1 + (3 * rank + i) % 5; }
Tensor elements(i64 rank, i64 n, DType dtype = DType::int64) {
  Ints r;
  for (i64 i = 0; i < n; ++i) r.push_back(element(rank, i));
  return cast(reshape(constant(r), {n}), dtype);
}
template <class F>
Ints over_ranks(i64 ranks, i64 n, i64 first, F&& f) {
  Ints r(static_cast<std::size_t>(n), first);
  for (i64 i = 0; i < n; ++i)
    for (i64 k = 0; k < ranks; ++k) r[static_cast<std::size_t>(i)] = f(r[static_cast<std::size_t>(i)], element(k, i));
  return r;
}
Ints sums(i64 ranks, i64 n) { return over_ranks(ranks, n, 0, std::plus<i64>()); }

void reductions(Context& c) {
  for (int round = 0; round < 3; ++round) {
    const i64 n = 1 + c.draw.below(40);
    const DType dtype = std::array{DType::int32, DType::int64, DType::float32,
                                   DType::float64}[static_cast<std::size_t>(c.draw.below(4))];
    const Tensor x = elements(c.rank(), n, dtype);
    const auto reduced = [&](ReduceOp op) { return distribute::all_reduce(x, {.op = op}); };
    expect(reduced(ReduceOp::sum), sums(c.size(), n), "sum");
    expect(reduced(ReduceOp::max), over_ranks(c.size(), n, 0, [](i64 a, i64 b) { return std::max(a, b); }), "max");
    expect(reduced(ReduceOp::min), over_ranks(c.size(), n, 9, [](i64 a, i64 b) { return std::min(a, b); }), "min");
    expect(reduced(ReduceOp::prod), over_ranks(c.size(), n, 1, std::multiplies<i64>()), "prod");
  }
}

void broadcasts_and_gathers(Context& c) {
  const i64 root = c.draw.below(c.size());
  expect(distribute::broadcast(elements(c.rank(), 6), {.root = static_cast<int>(root)}),
         elements(root, 6).to_vector<i64>(), "broadcast");
  Ints rows, all;
  for (i64 k = 0; k < c.size(); ++k) {
    rows.push_back(c.draw.below(4));
    for (i64 i = 0; i < rows.back(); ++i) all.push_back(element(k, i));
  }
  const Tensor own = elements(c.rank(), rows[static_cast<std::size_t>(c.rank())]);
  expect(distribute::all_gather(own), all, "all_gather of different numbers of rows");
}

void exchanges(Context& c) {
  Ints splits, back;
  for (i64 k = 0; k < c.size() * c.size(); ++k) splits.push_back(c.draw.below(3));  // of each rank to each
  const auto row = splits.begin() + c.rank() * c.size();
  const Ints own(row, row + c.size());
  const Tensor x = elements(c.rank(), std::accumulate(own.begin(), own.end(), i64{0}));
  const distribute::Exchanged there = distribute::all_to_all(x, constant(own));
  for (i64 k = 0; k < c.size(); ++k) back.push_back(splits[static_cast<std::size_t>(k * c.size() + c.rank())]);
  expect(there.splits, back, "how many rows came from each rank");
  expect(distribute::all_to_all(there.rows, there.splits).rows, x.to_vector<i64>(), "there and back");
  const i64 n = 1 + c.draw.below(3);
  const Ints sum = sums(c.size(), n * c.size());
  expect(distribute::reduce_scatter(elements(c.rank(), n * c.size())),
         Ints(sum.begin() + n * c.rank(), sum.begin() + n * (c.rank() + 1)), "reduce_scatter");
}

// Rows and columns of a grid: the sum over columns of the sums over rows is that of the world.
void grids(Context& c) {
  const i64 columns = 1 + c.draw.below(c.size());
  const Communicator row = c.world.split(static_cast<int>(c.rank() / columns));
  const Communicator column = c.world.split(static_cast<int>(c.rank() % columns), -static_cast<int>(c.rank()));
  expect(row.rank() == c.rank() % columns, "the rank in a row");
  expect(column.rank() == column.size() - 1 - c.rank() / columns, "the rank in a column, which counts down");
  for (int round = 0; round < 3; ++round) {
    const Tensor of_row = distribute::all_reduce(elements(c.rank(), 5), {.group = row});
    if (c.draw.below(2)) row.barrier();
    const bool is_first = row.rank() == 0;
    const Tensor firsts = distribute::all_reduce(is_first ? of_row : zeros_like(of_row), {.group = c.world});
    expect(firsts, sums(c.size(), 5), "the sum of the rows' sums");
    if (c.draw.below(2)) column.barrier();
  }
}

// g of rank r is r + 1, so that the sum of the ranks' g is p (p + 1) / 2.
void gradients(Context& c) {
  const i64 p = c.size(), total = p * (p + 1) / 2;
  const Variable x(elements(c.rank(), p, DType::float32));
  const float g = static_cast<float>(c.rank() + 1);
  const auto gradient = [&](auto&& f) {
    GradientTape tape;
    return tape.gradient(reduce_sum(f()) * g, x);
  };
  const auto all = [&](i64 value) { return Ints(static_cast<std::size_t>(p), value); };
  expect(gradient([&] { return distribute::all_reduce(x); }), all(total), "of all_reduce");
  expect(gradient([&] { return distribute::all_gather(x); }), all(total), "of all_gather");
  const int root = static_cast<int>(c.draw.below(p));
  expect(gradient([&] { return distribute::broadcast(x, {.root = root}); }), all(c.rank() == root ? total : 0),
         "of broadcast");
  Ints each(static_cast<std::size_t>(p));
  std::iota(each.begin(), each.end(), 1);
  expect(gradient([&] { return distribute::reduce_scatter(x); }), each, "of reduce_scatter");
  expect(gradient([&] { return distribute::all_to_all(x); }), each, "of all_to_all");
}

void traced_steps(Context& c) {
  const Variable state(zeros({3}), {.trainable = false});
  auto f = function([&](const Tensor& x) {
    const Tensor sum = distribute::all_reduce(x);
    const Tensor all = distribute::all_gather(x, {.equal_rows = true});
    state.assign_add(sum);
    return reduce_sum(all);
  });
  const i64 steps = 2 + c.draw.below(4);
  const Ints once = sums(c.size(), 3);
  for (i64 step = 0; step < steps; ++step) {
    c.world.set_step(step);
    expect(f(elements(c.rank(), 3, DType::float32)), {once[0] + once[1] + once[2]}, "the sum of all ranks' rows");
  }
  expect(state, {steps * once[0], steps * once[1], steps * once[2]}, "the sum over steps");
}

// Data parallel steps on rows that the ranks do not divide evenly: the gradient of the sum of x w is the sum of x.
void data_parallel_steps(Context& c) {
  const MultiWorkerMirroredStrategy strategy({.bucket_bytes = 1 + c.draw.below(40), .first_bucket_bytes = 4});
  const auto scope = strategy.scope();
  const Variable w(cast(constant(Ints{c.rank(), 7}), DType::float32)), b(cast(constant(c.rank()), DType::float32));
  const optimizers::SGD sgd(1.0);
  const i64 rows = 1 + c.draw.below(20), batch = 1 + c.draw.below(8);
  const Tensor x = cast(reshape(range(2 * rows), {rows, 2}), DType::float32);
  const auto step = [&](const Tensor& part) {
    GradientTape tape;
    const Tensor loss = reduce_sum(matmul(part, expand_dims(w, 1)) + b);
    sgd.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
  };
  auto f = function(step);
  const bool is_traced = c.draw.below(2) == 1;
  for (const Tensor& part : strategy.distribute_dataset(data::from_tensor_slices(x).batch(batch)))
    is_traced ? f(part) : step(part);
  expect(w, {-rows * (rows - 1), 7 - rows * rows}, "w, which begins with rank 0's value");
  expect(b, {-rows}, "b");
}

// Rank 0 writes after each step; after a restart all go on from there.
void goes_on_from_the_disk(Context& c) {
  Ints place = distribute::broadcast(constant(Ints{c.disk.step, c.disk.value})).to_vector<i64>();
  while (place[0] < 6) {
    c.world.set_step(place[0]);
    const i64 sum = distribute::all_reduce(constant(place[1] + c.rank())).item<i64>();
    ++place[0], place[1] = sum % 1009;
    if (c.rank() == 0) c.disk = {place[0], place[1]};
    c.world.barrier();
  }
  i64 value = 1;
  for (int step = 0; step < 6; ++step) value = (c.size() * value + c.size() * (c.size() - 1) / 2) % 1009;
  expect(place[1] == value, "the value after six steps");
}

// Rank r asks for its part of the ids; the gradient of an id's rows is how often all ranks have asked for it.
void sharded_tables(Context& c) {
  const i64 words = 1 + c.draw.below(12), asked = c.draw.below(20);
  const distribute::ShardedEmbedding embedding(words, 2,
                                               {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 1)});
  embedding.assign(cast(reshape(range(2 * words), {words, 2}), DType::float32));
  Ints ids, rows, after(static_cast<std::size_t>(2 * words));
  std::iota(after.begin(), after.end(), 0);
  for (i64 i = 0; i < asked; ++i) {
    const i64 id = c.draw.below(words);
    for (const i64 k : {2 * id, 2 * id + 1}) --after[static_cast<std::size_t>(k)];
    if (i % c.size() == c.rank()) ids.push_back(id), rows.push_back(2 * id), rows.push_back(2 * id + 1);
  }
  GradientTape tape;
  const Tensor found = embedding(reshape(constant(ids), {static_cast<i64>(ids.size())}));
  expect(found, rows, "the rows asked for");
  const std::vector<Variable> weights = embedding.trainable_variables();
  optimizers::SGD(1.0).apply_gradients(tape.gradient(reduce_sum(found), weights), weights);
  expect(embedding.table(), after, "the table after a step");
}

// Each row of an epoch is in one rank; means over axis 0 are those of all rows.
void strategies_values(Context& c) {
  const MultiWorkerMirroredStrategy strategy;
  const i64 rows = 1 + c.draw.below(30), batch = 1 + c.draw.below(10);
  Tensor own = zeros({0}, DType::int64);
  for (const Tensor& part : strategy.distribute_dataset(data::range(rows).batch(batch))) own = concat({own, part}, 0);
  Ints seen = strategy.gather(own).to_vector<i64>(), all(static_cast<std::size_t>(rows));
  std::sort(seen.begin(), seen.end());
  std::iota(all.begin(), all.end(), 0);
  expect(seen == all, "each row once");
  expect(strategy.reduce(ReduceOp::mean, cast(own, DType::float64) * 2., 0), {rows - 1}, "twice the mean of all rows");
  expect(strategy.reduce(ReduceOp::sum, own, 0), {rows * (rows - 1) / 2}, "their sum");
}

struct Program {
  const char* name;
  Body body;
};
constexpr std::array<Program, 10> programs{{{"reductions", reductions},
                                            {"broadcasts and gathers", broadcasts_and_gathers},
                                            {"exchanges", exchanges},
                                            {"grids", grids},
                                            {"gradients", gradients},
                                            {"traced steps", traced_steps},
                                            {"data parallel steps", data_parallel_steps},
                                            {"goes on from the disk", goes_on_from_the_disk},
                                            {"sharded tables", sharded_tables},
                                            {"a strategy's values", strategies_values}}};

// A fault, or none. Ranks that are late are so for less than the timeout, 100 s, even in all of their operations.
std::vector<SimFault> faults_of(Draw& draw, int ranks) {
  const auto rank = static_cast<int>(draw.below(ranks));
  const i64 at = draw.below(16);
  switch (draw.below(6)) {
    case 0: return {};
    case 1: return {{.kind = SimFault::delay, .rank = rank, .at = at, .seconds = 20}};
    case 2: return {{.kind = SimFault::slow, .rank = rank, .at = at, .seconds = 0.1}};
    case 3: return {{.kind = SimFault::stop, .rank = rank, .at = at, .seconds = 30}};
    case 4: return {{.kind = SimFault::stop, .rank = rank, .at = at}};
    default: return {{.kind = SimFault::kill, .rank = rank, .at = at}};
  }
}

struct Outcome {
  std::vector<std::string> errors;
  std::string raised;  // by run()
  int ended_well = 0, ranks = 0, restarts = 0, max_restarts = 0;
  double time = 0;
};
Outcome run(const Program& program, u64 seed) {
  Draw draw(seed);
  Outcome r;
  r.ranks = static_cast<int>(2 + draw.below(7)), r.max_restarts = static_cast<int>(draw.below(2));
  SimCluster cluster(r.ranks, {.seed = seed,
                               .timeout = 100,
                               .ranks_per_node = static_cast<int>(1 + draw.below(3)),
                               .max_restarts = r.max_restarts,
                               .faults = faults_of(draw, r.ranks)});
  Disk disk;
  std::atomic<int> ended_well = 0;
  try {
    cluster.run([&](const Communicator& world) {
      if (world.rank() == 0) ended_well = 0;
      Context c{world, draw, disk};
      world.barrier();  // behind which rank 0 has begun to count
      program.body(c);
      ++ended_well;
    });
  } catch (const std::exception& e) {  // which errors() has as well: wrong() says whether it may be
    r.raised = e.what();
  }
  r.errors = cluster.errors(), r.time = cluster.time(), r.restarts = cluster.restarts(), r.ended_well = ended_well;
  return r;
}
// What is wrong with an outcome; empty if nothing is.
std::string wrong(const Outcome& r) {
  int killed = 0, failed = 0;
  for (const std::string& e : r.errors) {
    const bool says_why = e.find("no answer within 100 s") != e.npos || e.find("is dead since") != e.npos ||
                          e.find("split: not all ranks have called it") != e.npos;
    if (e == "killed") ++killed;
    else if (!e.empty()) ++failed;
    if (!e.empty() && e != "killed" && !says_why) return e;
  }
  if (killed > 1) return "more than one rank was killed";
  if (killed && r.max_restarts) return "killed, and not started again";
  if (!killed && (failed || !r.raised.empty())) return "a rank that was only late: " + r.raised;
  if (r.ended_well + killed + failed != r.ranks) return "a rank ended without a result or an error";
  return "";
}

void run_seeds(u64 first, u64 count) {
  int lost = 0, restarted = 0, complete = 0;
  for (u64 seed = first; seed < first + count; ++seed)
    for (const Program& program : programs) {
      INFO(program.name << ", seed " << seed);
      const Outcome r = run(program, seed);
      const std::string what = wrong(r);
      if (!what.empty()) FAIL_CHECK(what);
      r.restarts ? ++restarted : r.ended_well == r.ranks ? ++complete : ++lost;
    }
  // The faults do happen.
  const int all = static_cast<int>(count * programs.size());
  CHECK(lost > all / 20);
  CHECK(restarted > all / 20);
  CHECK(complete > all / 3);
}

TEST_CASE("ten programs with 300 seeds: right results, or an error that says what is lost") { run_seeds(0, 300); }
TEST_CASE("ten programs with a thousand seeds", "[.thorough]") { run_seeds(1000, 1000); }

TEST_CASE("a run is repeated by its seed, faults included") {
  for (u64 seed = 0; seed < 6; ++seed)
    for (const Program& program : programs) {
      const Outcome a = run(program, seed), b = run(program, seed);
      INFO(program.name << ", seed " << seed);
      CHECK(a.errors == b.errors);
      CHECK(a.time == b.time);
      CHECK(a.ended_well == b.ended_well);
    }
}

TEST_CASE("the check of outcomes sees wrong results, deadlocks and lost ranks") {
  const auto outcome = [](std::vector<std::string> errors, int ended_well, int max_restarts = 0) {
    return Outcome{std::move(errors), "", ended_well, 2, 0, max_restarts, 0};
  };
  CHECK(wrong(outcome({"", ""}, 2)).empty());
  CHECK(wrong(outcome({"killed", ""}, 1)).empty());
  CHECK(wrong(outcome({"", "sum"}, 1)) == "sum");
  CHECK_FALSE(wrong(outcome({"", ""}, 1)).empty());
  CHECK_FALSE(wrong(outcome({"killed", ""}, 1, 1)).empty());
  CHECK_FALSE(wrong(outcome({"", "no answer within 100 s"}, 1)).empty());
  const Program waits{"waits", [](Context& c) {
                        if (c.rank()) c.world.barrier();
                      }};
  int seen = 0;
  for (u64 seed = 0; seed < 20; ++seed) seen += !wrong(run(waits, seed)).empty();
  CHECK(seen >= 10);
}

}  // namespace sim_seeds_test
