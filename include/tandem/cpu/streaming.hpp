// When kernels store their results past the caches (store_full in simd/pack.inc).
// Not here: copies (layout/strided_copy.hpp).
#pragma once
#include <cstdint>

#include "tandem/base/dtype.hpp"
#include "tandem/cpu/simd/intrinsics.hpp"

namespace TANDEM_NS::cpu {

/// The result of a call that reads and writes at least so many bytes is stored past the caches: much of it would have
/// left them before it is read, and the lines that it replaces are not read first. With an L3 cache of 32 MB an
/// addition is a third faster from there on, and no slower together with what reads its result. A constant, because
/// the L3 size that the system reports may be off by a factor of ten (virtual machines, glibc on AMD).
inline constexpr i64 streaming_bytes = 32 * 1024 * 1024;

/// Whether such stores can begin at this address: they write whole lines.
inline bool begins_line(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

/// Orders the thread's streaming stores before its later ones, which may tell other threads that the result is there.
inline void end_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace TANDEM_NS::cpu
