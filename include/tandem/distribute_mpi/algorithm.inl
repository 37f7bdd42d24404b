// Definitions of distribute_mpi/algorithm.hpp, by MPI's interface for tools.
#pragma once
#include "tandem/distribute_mpi/algorithm.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

TANDEM_INLINE TANDEM_API constinit AllReduceAlgorithm all_reduce_algorithm{};

TANDEM_INLINE void AllReduceAlgorithm::prepare() {
  int level = 0, index = 0, count = 0, value = 0;
  if (MPI_T_init_thread(MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return;
  if (MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) != MPI_SUCCESS) return;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count) != MPI_SUCCESS || count != 1) return;
  is_known_ = MPI_T_cvar_read(handle_, &value) == MPI_SUCCESS && value == 0;
}

// Two ranks exchange halves twice by the ring. Where halves are too large to be sent at once, more than 4 KB with their
// headers, and the whole is still small, one exchange of the whole is faster: recursive doubling.
TANDEM_INLINE int AllReduceAlgorithm::best(std::size_t bytes, int ranks, bool is_in_place) {
  constexpr int own_choice = 0, ring = 1, recursive_doubling = 4;
  if (ranks == 2 && bytes >= 7 << 10 && bytes < 16 << 10) return recursive_doubling;
  const std::size_t least = ranks < 4 ? 2 << 10 : 64 << 10;
  return bytes >= least && (ranks < 4 || is_in_place) ? ring : own_choice;
}

TANDEM_INLINE void AllReduceAlgorithm::choose(std::size_t bytes, int ranks, bool is_in_place) {
  if (!is_known_) return;
  const int wanted = best(bytes, ranks, is_in_place);
  if (wanted == now_) return;
  is_known_ = MPI_T_cvar_write(handle_, &wanted) == MPI_SUCCESS;
  now_ = wanted;
}

}  // namespace TANDEM_NS::distribute::impl::mpi
