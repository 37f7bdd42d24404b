// One rank of a test with real processes: mpirun or tandem_run starts several of this program.
//   distribute_ranks collectives [mpi | gloo]   every operation, dtype and size, in the world and in parts of it
//   distribute_ranks train SECONDS [STEPS]   all_reduce after all_reduce with this timeout, until a step or an error
//   distribute_ranks alone SECONDS   the other ranks do not come: world() raises with this timeout, and again at once
//   distribute_ranks unequal         rank 1 takes a step less: all ranks raise FailedPreconditionError
//   distribute_ranks vanish          rank 1 is killed when the others end well, which wait for it at exit()
//   distribute_ranks newcomer P      waits until P processes are in the world, or come with it to train
//   distribute_ranks end STATUS      rank 1 ends with the status while the others wait for it
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <tandem/distribute.hpp>
#include <tandem/distribute/raised_errors.hpp>
#include <tandem/tandem.hpp>
#if TANDEM_WITH_DISTRIBUTE_MPI
#include <tandem/distribute_mpi.hpp>
#endif
#if TANDEM_WITH_DISTRIBUTE_GLOO
#include <tandem/distribute_gloo.hpp>
#endif

namespace {

using namespace tandem;
using distribute::Collective;
using distribute::Communicator;
using distribute::ReduceOp;

int failures = 0;
void expect(bool holds, const Communicator& c, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: rank %d of %d in '%s': %s\n", c.rank(), c.size(), c.name().c_str(), what.c_str());
}
void expect_equal(const Tensor& x, const std::vector<double>& expected, const Communicator& c,
                  const std::string& what) {
  const std::vector<double> values = cast(x, float64).to_vector<double>();
  if (values.size() != expected.size()) return expect(false, c, what + ": another number of elements");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != expected[i])
      return expect(false, c,
                    what + ": element " + std::to_string(i) + " is " + std::to_string(values[i]) + ", not " +
                        std::to_string(expected[i]));
}

// Element i of rank r: integers that every dtype has, also their sums and products over a few ranks.
double element(int rank, std::size_t i) { return 1 + (rank + static_cast<int>(i % 7)) % 3; }
std::vector<double> elements(int rank, std::size_t n) {
  std::vector<double> r(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = element(rank, i);
  return r;
}
Tensor tensor(int rank, std::size_t n, DType d) { return cast(constant(elements(rank, n)), d); }

double combined(ReduceOp op, int ranks, std::size_t i) {
  double r = element(0, i);
  for (int k = 1; k < ranks; ++k) {
    const double x = element(k, i);
    r = op == ReduceOp::min    ? std::fmin(r, x)
        : op == ReduceOp::max  ? std::fmax(r, x)
        : op == ReduceOp::prod ? r * x
                               : r + x;
  }
  return op == ReduceOp::mean ? r / ranks : r;
}

void test_all_reduce(const Communicator& c) {
  for (const DType d : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::prod})
      for (const std::size_t n : {1u, 7u, 1000u}) {
        std::vector<double> expected(n);
        for (std::size_t i = 0; i < n; ++i) expected[i] = combined(op, c.size(), i);
        expect_equal(distribute::all_reduce(tensor(c.rank(), n, d), {.op = op, .group = c}), expected, c,
                     std::string("all_reduce ") + name(d) + " " + name(op) + " " + std::to_string(n));
      }
  for (const std::size_t n : {0u, 2'500u, 100'000u, 1'000'001u}) {
    std::vector<double> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = combined(ReduceOp::sum, c.size(), i);
    expect_equal(distribute::all_reduce(tensor(c.rank(), n, float32), {.group = c}), expected, c,
                 "all_reduce of " + std::to_string(n));
  }
  const float nan = std::nanf("");
  const Tensor with_nan =
      distribute::all_reduce(constant({c.rank() == 0 ? nan : 1.f}), {.op = ReduceOp::max, .group = c});
  expect(std::isnan(with_nan.to_vector<float>()[0]), c, "all_reduce max of NaN");
}

void test_moves(const Communicator& c) {
  const int p = c.size(), r = c.rank();
  for (int root = 0; root < p; ++root)
    for (const std::size_t n : {1u, 1000u, 500'000u})
      expect_equal(distribute::broadcast(tensor(r, n, float32), {.root = root, .group = c}), elements(root, n), c,
                   "broadcast from " + std::to_string(root));
  std::vector<double> all;  // rank k has k + 1 rows
  for (int k = 0; k < p; ++k)
    for (const double x : elements(k, static_cast<std::size_t>(k) + 1)) all.push_back(x);
  expect_equal(distribute::all_gather(tensor(r, static_cast<std::size_t>(r) + 1, int16), {.group = c}), all, c,
               "all_gather of rows that differ");
  const std::size_t each = 50'000;
  std::vector<double> own(each);
  for (std::size_t i = 0; i < each; ++i) own[i] = combined(ReduceOp::sum, p, each * static_cast<std::size_t>(r) + i);
  expect_equal(distribute::reduce_scatter(tensor(r, each * static_cast<std::size_t>(p), float32), {.group = c}), own, c,
               "reduce_scatter");
  // Rank r sends k + r rows to rank k, each of them r.
  std::vector<i64> splits(static_cast<std::size_t>(p));
  std::iota(splits.begin(), splits.end(), r);
  const i64 rows = std::accumulate(splits.begin(), splits.end(), i64{0});
  std::vector<double> from;
  for (int k = 0; k < p; ++k) from.insert(from.end(), static_cast<std::size_t>(k + r), k);
  const auto got = distribute::all_to_all(fill({rows}, static_cast<double>(r)), constant(splits), {.group = c});
  expect_equal(got.rows, from, c, "all_to_all");
}

// Several operations at once, small and large ones, which are waited for in order.
void test_several(const Communicator& c) {
  std::vector<std::vector<float>> buffers;
  for (const std::size_t n : {10u, 400'000u, 3u, 1'000'000u})
    buffers.emplace_back(n, static_cast<float>(c.rank() + static_cast<int>(buffers.size())));
  std::vector<distribute::Running> running;
  for (auto& b : buffers) {
    Collective all{.kind = Collective::all_reduce, .dtype = float32, .input = b.data(), .output = b.data()};
    all.count = static_cast<i64>(b.size()), all.combine = distribute::impl::combine_fn(ReduceOp::sum, float32);
    running.push_back(c.start(all, "all_reduce", "bucket " + std::to_string(running.size())));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (auto& r : running) r.wait();
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const float sum = static_cast<float>(c.size() * (c.size() - 1) / 2 + c.size() * static_cast<int>(k));
    for (const float x : buffers[k])
      if (x != sum) return expect(false, c, "bucket " + std::to_string(k));
  }
}

// A child is not a rank: its operations raise, and its end does not leave the group for its parent.
void test_fork(const Communicator& world) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);  // ends one that waits
    try {
      distribute::all_reduce(fill({3}, 2.f), {.group = world});
    } catch (const errors::FailedPreconditionError&) {
      std::exit(0);
    }
    std::exit(1);
  }
  int status = -1;
  expect(child > 0 && ::waitpid(child, &status, 0) == child && status == 0, world, "a child of fork()");
  expect_equal(distribute::all_reduce(fill({3}, 2.f), {.group = world}), std::vector<double>(3, 2. * world.size()),
               world, "all_reduce after fork()");
}

// All have raised an error behind the same operation, and one comes late to the next, by more than the patience for one
// that was reported: the others wait for it.
void test_reports(const Communicator& world) {
  for (const int late : world.size() > 2 ? std::vector{0, world.size() - 1} : std::vector{world.size() - 1}) {
    if (world.size() == 1) break;
    world.report_error("an error of all");
    const double seconds = distribute::impl::RaisedErrors::patience + 2 * distribute::impl::RaisedErrors::period;
    if (late == world.rank()) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    expect_equal(distribute::all_reduce(fill({3}, 2.f), {.group = world}), std::vector<double>(3, 2. * world.size()),
                 world, "all_reduce after report_error()");
  }
}

void test_collectives(const Communicator& world) {
  const Communicator part = world.split(world.rank() % 2, -world.rank());
  expect(part.size() == (world.size() + 1 - world.rank() % 2) / 2, world, "the size of the part");
  expect(part.rank() == part.size() - 1 - world.rank() / 2, world, "the order of the part");
  expect(world.local_size() == world.size() && world.nodes() == 1, world, "all ranks are on one machine");
  for (const Communicator& c : {world, part}) {
    test_all_reduce(c);
    test_moves(c);
    test_several(c);
    c.barrier();
  }
  test_fork(world);
  test_reports(world);
}

// Rank 1 takes one step less than the others, and what follows the steps meets their last one.
void take_unequal_steps(const Communicator& world) {
  try {
    for (int step = 0; step < 200 - world.rank(); ++step) distribute::all_reduce(fill({4}, 1.f));
    distribute::all_reduce(fill({1000}, 1.f));
  } catch (const errors::FailedPreconditionError& e) {
    std::printf("rank %d: FAILED_PRECONDITION: %s\n", world.rank(), e.what());
  }
}

// Rank 1 asks for another sum at its 150th operation. MPI takes both for the same: the 200th one finds it.
void call_another_operation(const Communicator& world) {
  try {
    for (int i = 0; i < 250; ++i) {
      const bool other = i == 149 && world.rank() == 1;
      distribute::all_reduce(fill({4}, 1.f), {.op = other ? distribute::ReduceOp::max : distribute::ReduceOp::sum});
    }
  } catch (const errors::FailedPreconditionError& e) {
    std::printf("rank %d: FAILED_PRECONDITION: %s\n", world.rank(), e.what());
  }
}

void take_steps(const Communicator& world, i64 steps) {
  for (i64 step = 0; step < steps; ++step) {
    world.set_step(step);
    const auto begin = std::chrono::steady_clock::now();
    try {
      const Tensor sum = distribute::all_reduce(fill({step % 3 == 0 ? 300'000 : 500}, static_cast<float>(step)));
      expect(sum.to_vector<float>()[1] == static_cast<float>(step) * static_cast<float>(world.size()), world,
             "the sum");
    } catch (const errors::UnavailableError& e) {
      const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      std::printf("rank %d: UNAVAILABLE after %.2f s in step %d: %s\n", world.rank(), waited, static_cast<int>(step),
                  e.what());
      std::fflush(stdout);
      std::exit(3);
    }
    if (step % 50 == 0) std::printf("rank %d: step %d\n", world.rank(), static_cast<int>(step)), std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Takes others in until there are so many processes, at most 30 seconds, and then takes a step with them.
int meet_newcomers(Communicator world, int processes) {
  for (int i = 0; i < 3000 && world.size() < processes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (world.has_newcomers()) world = world.rebuild();
  }
  distribute::all_reduce(fill({300'000}, 1.f), {.group = world});
  std::printf("rank %d of %d: all passed\n", world.rank(), world.size());
  return 0;
}

// "alone: 1.00 s, 0.00 s": how long the first world() and the second one have taken to raise.
int connect_alone(double timeout) {
  double took[2] = {-1, -1};
  for (double& seconds : took) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      Communicator::world({.timeout = timeout});
    } catch (const errors::UnavailableError& e) {
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      std::printf("%s\n", e.what());
    }
  }
  std::printf("alone: %.2f s, %.2f s\n", took[0], took[1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string test = argc > 1 ? argv[1] : "";
  const double timeout = test == "train" && argc > 2 ? std::atof(argv[2]) : 60;
  if (test == "alone" && argc > 2) return connect_alone(std::atof(argv[2]));
  const std::string chosen = test == "collectives" && argc > 2 ? argv[2] : "";
  const auto backend = chosen == "mpi"    ? distribute::Backend::mpi
                       : chosen == "gloo" ? distribute::Backend::gloo
                                          : distribute::Backend::automatic;
  try {
    const Communicator world = Communicator::world({.backend = backend, .timeout = timeout});
    std::printf("rank %d: process %d, %s, %d threads\n", world.rank(), static_cast<int>(::getpid()), world.backend(),
                config::intra_op_parallelism_threads());
    std::fflush(stdout);
    if (test == "newcomer" && argc > 2) return meet_newcomers(world, std::atoi(argv[2]));
    if (test == "train") take_steps(world, argc > 3 ? std::atoll(argv[3]) : 1'000'000);
    if (test == "collectives") test_collectives(world);
    if (test == "unequal") take_unequal_steps(world);
    if (test == "another") call_another_operation(world);
    if (test == "end" && world.rank() == 1) std::exit(std::atoi(argv[2]));
    if (test == "end") world.barrier();
    if (test == "vanish" && world.rank() == 1) ::raise(SIGKILL);
    if (failures == 0) std::printf("rank %d: all passed\n", world.rank());
  } catch (const errors::OpError& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
  return failures != 0;
}
