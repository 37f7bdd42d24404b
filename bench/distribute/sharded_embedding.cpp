// What a training step of distribute::ShardedEmbedding costs, for tables of 10^4 to 10^7 rows of 64 floats and 1,024
// ids in each rank; and the same step of a table that every rank has, whose gradient is row-sparse ("sparse": what
// layers::Embedding does) or, because the table is computed with before, dense.
//   mpirun --oversubscribe -np 2 --bind-to none build/release/bench/distribute_sharded_embedding [STEPS]
// Times are medians of the slowest rank's steps.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <tandem/distribute_mpi.hpp>
#include <tandem/tandem.hpp>
namespace {

using namespace tandem;
using distribute::Communicator;

constexpr i64 columns = 64, ids_a_step = 1024;

// Seconds of a step, of the slowest rank.
template <class Step>
double median_seconds(const Communicator& world, int steps, const Step& step) {
  std::vector<double> all;
  for (int i = -3; i < steps; ++i) {  // the first ones warm up
    world.barrier();
    const auto begin = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const Tensor own = constant(seconds.count(), float64);
    const double slowest = distribute::all_reduce(own, {.op = distribute::ReduceOp::max}).item<double>();
    if (i >= 0) all.push_back(slowest);
  }
  std::nth_element(all.begin(), all.begin() + steps / 2, all.end());
  return all[static_cast<std::size_t>(steps / 2)];
}

// A step of SGD on the sum of squares of what `lookup` finds.
template <class Lookup>
double train(const Communicator& world, int steps, i64 rows, const Variable& table, const Lookup& lookup) {
  const optimizers::SGD sgd(0.1);
  auto f = function([&](const Tensor& ids) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(lookup(ids)));
    sgd.apply_gradients(tape.gradient(loss, {table}), {table});
    return loss;
  });
  return median_seconds(world, steps, [&] { f(random::uniform({ids_a_step}, 0, rows, int64)); });
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  const Communicator world = Communicator::world();
  const distribute::MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  random::set_seed(1 + world.rank());
  for (int i = 0; i < 200; ++i) world.barrier();  // the first operations are checked
  for (const i64 rows : {10'000, 100'000, 1'000'000, 10'000'000}) {
    const distribute::ShardedEmbedding embedding(rows, columns);
    const double seconds = train(world, steps, rows, embedding.trainable_variables()[0],
                                 [&](const Tensor& ids) { return embedding(ids); });
    if (world.rank() == 0) fmt::print("sharded, {:8} rows: {:9.1f} us a step\n", rows, seconds * 1e6);
  }
  const i64 rows = 1'000'000;  // of a table that each rank has: row-sparse gradients are gathered, dense ones added up
  const Variable table(random::uniform({rows, columns}, -0.05, 0.05));
  const double sparse = train(world, steps, rows, table, [&](const Tensor& ids) { return gather(table, ids); });
  if (world.rank() == 0) fmt::print("sparse,  {:8} rows: {:9.1f} us a step\n", rows, sparse * 1e6);
  const double seconds =
      train(world, std::min(steps, 10), rows, table, [&](const Tensor& ids) { return gather(table * 1.f, ids); });
  if (world.rank() == 0) fmt::print("dense,   {:8} rows: {:9.1f} us a step\n", rows, seconds * 1e6);
  return 0;
}
