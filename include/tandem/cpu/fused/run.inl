// The kernel of fused programs: tiles, threads, broadcast inputs.
#pragma once
#include "tandem/cpu/fused/fused.hpp"
#include "tandem/cpu/fused/tiles.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void FusedCode::run(const KernelCall& c) const {
  if (c.out[0].size() == 0) return;
  const FusedCall call(*this, c);
  parallel_for(call.tiles(), call.grain(), [&call](i64 begin, i64 end) {
    FusedTiles tiles(call);
    tiles.run(begin, end);
  });
}

}  // namespace TANDEM_NS::cpu
