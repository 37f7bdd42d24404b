// Which algorithm Open MPI's nonblocking all_reduce uses. For definitions only.
#pragma once
#include "tandem/distribute_mpi/api.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

/// Chooses between Open MPI's own choice and the ring for the next MPI_Iallreduce. Its own choice sends the whole of a
/// large tensor to one rank and back if there are fewer than four ranks, or if the operation is in place; the ring
/// moves 2 (p - 1) / p of it, from and to each rank, in 2 (p - 1) messages. Does nothing for other implementations, and
/// where the user has set coll_libnbc_iallreduce_algorithm. All ranks choose the same, by the operation's size. Only
/// who may call MPI calls this.
class AllReduceAlgorithm {
 public:
  /// After MPI has been initialized.
  void prepare();
  void choose(std::size_t bytes, int ranks, bool is_in_place);

 private:
  static int best(std::size_t bytes, int ranks, bool is_in_place);
  MPI_T_cvar_handle handle_ = {};
  bool is_known_ = false;
  int now_ = 0;
};
extern TANDEM_API constinit AllReduceAlgorithm all_reduce_algorithm;

}  // namespace TANDEM_NS::distribute::impl::mpi
