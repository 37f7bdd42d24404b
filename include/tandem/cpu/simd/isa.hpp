// Which instruction set the CPU kernels use: detected once, then one relaxed load per call.
// Not here: the kernels themselves (cpu/simd/for_each_isa.inc builds each once per set).
#pragma once
#include <atomic>
#include <type_traits>

#include "tandem/config.hpp"

namespace TANDEM_NS::cpu {

/// The sets that kernels are built for. Architectures other than x86-64 only have the baseline.
enum Isa : signed char {
  level_baseline,  // x86-64 (SSE2), or plain C++ elsewhere
  level_v3,        // AVX2, FMA
  level_v4         // AVX-512 F, BW, DQ, VL
};

/// The set in use, -1 until detected. Tests set it to run every set the machine has; never raise it above best_isa().
inline constinit TANDEM_API std::atomic<signed char> isa_level{-1};

/// The best set that this machine and its operating system support.
[[gnu::cold, gnu::noinline]] inline int machine_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return level_baseline;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? level_v4 : level_v3;
#else
  return level_baseline;
#endif
}
/// The best of them that was built.
inline int best_isa() {
  constexpr int built = TANDEM_HIGHEST_SET >= 4 ? level_v4 : TANDEM_HIGHEST_SET >= 3 ? level_v3 : level_baseline;
  const int machine = machine_isa();
  return machine < built ? machine : built;
}

[[gnu::cold, gnu::noinline]] inline int detect_isa() {
  const int best = best_isa();
  isa_level.store(static_cast<signed char>(best), std::memory_order_relaxed);
  return best;
}

/// The set to use now: an index into ByIsa::level.
inline int isa() {
  const int level = isa_level.load(std::memory_order_relaxed);
  return level >= 0 ? level : detect_isa();
}

/// One pointer for each set, to a function or to the functions of a kernel.
template <class P>
struct ByIsa {
  P level[3];
  /// The one for the set in use.
  P get() const { return level[isa()]; }
};

/// Whether the kernels for elements of T are built for every set. In header-only mode only float32's are, because
/// each costs compile time in every program; the others run on the set that the compiler targets.
template <class T>
inline constexpr bool on_every_set = !TANDEM_IS_HEADER_ONLY || std::is_same_v<T, float>;

}  // namespace TANDEM_NS::cpu

// The initializer of a ByIsa: pointers to one kernel, by level. Sets below the one the program is compiled for are not
// built; the level of a set above TANDEM_HIGHEST_SET has the best kernel that is built.
#if !defined(__x86_64__)
#define TANDEM_LOWEST_ISA baseline
#define TANDEM_MIDDLE_ISA baseline
#define TANDEM_BEST_ISA baseline
#elif TANDEM_COMPILED_FOR_V4
#define TANDEM_LOWEST_ISA v4
#define TANDEM_MIDDLE_ISA v4
#define TANDEM_BEST_ISA v4
#else
#if TANDEM_COMPILED_FOR_V3
#define TANDEM_LOWEST_ISA v3
#else
#define TANDEM_LOWEST_ISA baseline
#endif
#if TANDEM_HIGHEST_SET >= 3
#define TANDEM_MIDDLE_ISA v3
#else
#define TANDEM_MIDDLE_ISA baseline
#endif
#if TANDEM_HIGHEST_SET >= 4
#define TANDEM_BEST_ISA v4
#else
#define TANDEM_BEST_ISA TANDEM_MIDDLE_ISA
#endif
#endif
#define TANDEM_EACH_ISA(...) \
  { &TANDEM_LOWEST_ISA::__VA_ARGS__, &TANDEM_MIDDLE_ISA::__VA_ARGS__, &TANDEM_BEST_ISA::__VA_ARGS__ }
#define TANDEM_LOWEST_ISA_ONLY(...) \
  { &TANDEM_LOWEST_ISA::__VA_ARGS__, &TANDEM_LOWEST_ISA::__VA_ARGS__, &TANDEM_LOWEST_ISA::__VA_ARGS__ }
// For kernels of element types other than float32, see on_every_set.
#if TANDEM_IS_HEADER_ONLY
#define TANDEM_EACH_ISA_IF_COMPILED(...) TANDEM_LOWEST_ISA_ONLY(__VA_ARGS__)
#else
#define TANDEM_EACH_ISA_IF_COMPILED(...) TANDEM_EACH_ISA(__VA_ARGS__)
#endif
// The ByIsa of a kernel for elements of T, a parameter of the template around it: of every set, or of the lowest one
// only, see on_every_set. For code in cpu.
#define TANDEM_SETS_OF(T, ...)                                                         \
  [] {                                                                                 \
    using Kernel = decltype(&TANDEM_LOWEST_ISA::__VA_ARGS__);                          \
    if constexpr (on_every_set<T>) return ByIsa<Kernel>{TANDEM_EACH_ISA(__VA_ARGS__)}; \
    else return ByIsa<Kernel>{TANDEM_LOWEST_ISA_ONLY(__VA_ARGS__)};                    \
  }()
