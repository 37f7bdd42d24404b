// The collective operations of training steps, as MultiWorkerMirroredStrategy and train::Trainer issue them, without
// the training: for smpi.py, which runs it on simulated clusters, whose memory and threads the library does not fit
// into.
//   skeleton STEPS SECONDS BYTES...   a step computes so many seconds and sums buckets of so many bytes over all ranks
// Rank 0 prints the seconds of a step by the clock of MPI. Buckets are summed when all is computed, one after the
// other: what overlaps in the library takes time here.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace {

// A buffer that the simulated ranks share, since its numbers do not matter.
void* shared_bytes(std::size_t n) {
#ifdef SMPI_SHARED_MALLOC
  return SMPI_SHARED_MALLOC(n);
#else
  return std::calloc(n, 1);
#endif
}
void compute(double seconds) {
#ifdef SMPI_SHARED_MALLOC
  smpi_execute(seconds);
#else
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
#endif
}
int sum_over_ranks(int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
// It takes no time to add: a cluster adds while the numbers arrive.
void add_nothing(void*, void*, int*, MPI_Datatype*) {}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) return fmt::print(stderr, "usage: skeleton STEPS SECONDS BYTES...\n"), 2;
  const int steps = std::atoi(argv[1]);
  const double seconds = std::atof(argv[2]);
  std::vector<int> floats;
  std::vector<void*> buckets;
  for (int i = 3; i < argc; ++i) {
    const int bytes = std::atoi(argv[i]);
    floats.push_back(bytes / 4), buckets.push_back(shared_bytes(static_cast<std::size_t>(bytes)));
  }
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&add_nothing, 1, &op);
  // The comparison of the traced graphs: 48 bytes of each rank.
  constexpr int summary = 48;
  void* const own = shared_bytes(summary);
  void* const all = shared_bytes(static_cast<std::size_t>(summary) * static_cast<std::size_t>(size));
  MPI_Allgather(own, summary, MPI_BYTE, all, summary, MPI_BYTE, MPI_COMM_WORLD);
  if (sum_over_ranks(1) != size || sum_over_ranks(rank) != size * (size - 1) / 2) {
    fmt::print(stderr, "rank {}: a wrong sum\n", rank);
    return 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    compute(seconds);
    for (std::size_t b = 0; b < buckets.size(); ++b)
      MPI_Allreduce(MPI_IN_PLACE, buckets[b], floats[b], MPI_FLOAT, op, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fmt::print("{} ranks: {:.9f} s a step\n", size, (MPI_Wtime() - begin) / steps);
  MPI_Finalize();
  return 0;
}
