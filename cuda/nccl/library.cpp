// The table of NCCL's functions that this program uses.
#include "cuda/nccl/library.hpp"

#if TANDEM_WITH_NCCL
namespace TANDEM_NS::cuda {

const Library<Nccl>& nccl() {
  static const auto* const r = new Library<Nccl>(open_nccl());
  return *r;
}

}  // namespace TANDEM_NS::cuda
#endif
