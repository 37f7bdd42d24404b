// What all_reduce costs beside MPI itself, in one run: raw MPI_Allreduce, raw MPI_Iallreduce with MPI_Test,
// Communicator::run and the op on tensors, for 1 KB to 64 MB of float32.
//   mpirun --oversubscribe -np 2 --bind-to none build/release/bench/distribute_all_reduce [ROUNDS]
// Every round measures all of them; a ratio is the median over the rounds of MPI's time over ours.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tandem/distribute_mpi.hpp>
#include <tandem/tandem.hpp>

namespace {

using namespace tandem;
using distribute::Collective;
using distribute::Communicator;

// Seconds a call takes, over so many of them; all ranks begin together, and the slowest counts.
template <class F>
double seconds(int calls, const F& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  double own = (MPI_Wtime() - begin) / calls, slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

enum Way : std::size_t { blocking, nonblocking, ours, op };
constexpr std::size_t ways = 4;

struct Buffers {
  std::vector<float> in, out;
  Tensor tensor;
};

// Every element of a result is the number of ranks. Sets it to 0 again for the next way.
void check(const char* way, const Communicator& world, std::vector<float>& out) {
  for (float& x : out) {
    if (x != static_cast<float>(world.size())) {
      fmt::print(stderr, "{}: an element is {} in a sum over {} ranks\n", way, x, world.size());
      std::exit(1);
    }
    x = 0;
  }
}

// Checks the results, outside of what is timed.
std::array<double, ways> measure(const Communicator& world, Buffers& b, int calls) {
  const int n = static_cast<int>(b.in.size());
  Collective call{.kind = Collective::all_reduce, .dtype = float32, .input = b.in.data(), .output = b.out.data()};
  call.count = n, call.combine = distribute::impl::combine_fn(distribute::ReduceOp::sum, float32);
  std::array<double, ways> r{};
  r[blocking] =
      seconds(calls, [&] { MPI_Allreduce(b.in.data(), b.out.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  check("MPI_Allreduce", world, b.out);
  r[nonblocking] = seconds(calls, [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    int is_done = 0;
    MPI_Iallreduce(b.in.data(), b.out.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!is_done) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  });
  check("MPI_Iallreduce", world, b.out);
  r[ours] = seconds(calls, [&] { world.run(call, "all_reduce", {}); });
  check("Communicator::run", world, b.out);
  Tensor sum;
  r[op] = seconds(calls, [&] { sum = distribute::all_reduce(b.tensor); });
  std::vector<float> sums = sum.to_vector<float>();
  check("all_reduce", world, sums);
  return r;
}

void compare(const Communicator& world, i64 elements, int rounds) {
  Buffers b{std::vector<float>(static_cast<std::size_t>(elements), 1), {}, ones({elements}, float32)};
  b.out.resize(b.in.size());
  const int calls = static_cast<int>(std::clamp<i64>((i64{4} << 20) / elements, 2, 500));
  std::array<std::vector<double>, ways> all;
  std::vector<double> to_blocking, to_nonblocking, more, op_ratio;
  measure(world, b, calls);
  for (int round = 0; round < rounds; ++round) {
    const std::array<double, ways> r = measure(world, b, calls);
    for (std::size_t i = 0; i < ways; ++i) all[i].push_back(r[i]);
    to_blocking.push_back(r[blocking] / r[ours]), to_nonblocking.push_back(r[nonblocking] / r[ours]);
    more.push_back(r[ours] - std::min(r[blocking], r[nonblocking])), op_ratio.push_back(r[blocking] / r[op]);
  }
  if (world.rank() == 0)
    fmt::print("{:9} bytes  {:10.1f} {:10.1f} {:10.1f} {:10.1f}  {:6.2f} {:6.2f} {:+9.1f} {:6.2f}\n", 4 * elements,
               median(all[blocking]) * 1e6, median(all[nonblocking]) * 1e6, median(all[ours]) * 1e6,
               median(all[op]) * 1e6, median(to_blocking), median(to_nonblocking), median(more) * 1e6,
               median(op_ratio));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const Communicator world = Communicator::world();
  for (int i = 0; i < 200; ++i) world.barrier();  // the first operations are checked
  if (world.rank() == 0)
    fmt::print("{} ranks; medians of {} rounds\n{:15}  {:>10} {:>10} {:>10} {:>10}  {}\n", world.size(), rounds, "",
               "Allreduce", "Iallreduce", "run()", "op, us", "Allreduce/run Iallreduce/run run-MPI us Allreduce/op");
  for (i64 bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2) compare(world, bytes / 4, rounds);
  return 0;
}
