// Version, visibility, and the two modes (compiled, header-only). No other header makes decisions about modes.
#pragma once

#if __cplusplus < 202002L
#error "Tandem needs C++20: compile with -std=c++20"
#endif

#define TANDEM_VERSION_MAJOR 0
#define TANDEM_VERSION_MINOR 1
#define TANDEM_VERSION_PATCH 0

#define TANDEM_API __attribute__((visibility("default")))
#if defined(TANDEM_HEADER_ONLY) && TANDEM_HEADER_ONLY
#define TANDEM_IS_HEADER_ONLY 1
#else
#define TANDEM_IS_HEADER_ONLY 0
#endif
// Data of the library that its users never access by name: hidden in compiled mode, so that reading it is one
// instruction.
#if TANDEM_IS_HEADER_ONLY
#define TANDEM_PRIVATE TANDEM_API
#else
#define TANDEM_PRIVATE __attribute__((visibility("hidden")))
#endif

// .hpp files declare, .inl files define: src/ compiles the latter; in header-only mode the umbrella headers include
// them.
#if TANDEM_IS_HEADER_ONLY
#define TANDEM_MODE header_only
#define TANDEM_INLINE inline
#else
#define TANDEM_MODE compiled
#define TANDEM_INLINE
#endif

// Instruction sets. CPU kernels are built for the set that the compiler targets (plain x86-64, or -march=) and for
// those above it up to TANDEM_HIGHEST_SET; the program uses the best that its machine has. 1: x86-64 baseline, 3:
// x86-64-v3 (AVX2, FMA), 4: x86-64-v4 (AVX-512). Each set is compiled separately, so header-only mode stops at v3:
// -DTANDEM_HIGHEST_SET=4 or -march=x86-64-v4 select more, =1 gives the fastest build. All translation units of a
// program must agree.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TANDEM_COMPILED_FOR_V4 1
#else
#define TANDEM_COMPILED_FOR_V4 0
#endif
#if defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
#define TANDEM_COMPILED_FOR_V3 1
#else
#define TANDEM_COMPILED_FOR_V3 0
#endif
#if !defined(__x86_64__)
#undef TANDEM_HIGHEST_SET
#define TANDEM_HIGHEST_SET 1
#elif TANDEM_COMPILED_FOR_V4
#undef TANDEM_HIGHEST_SET
#define TANDEM_HIGHEST_SET 4
#elif !defined(TANDEM_HIGHEST_SET)
#if TANDEM_IS_HEADER_ONLY
#define TANDEM_HIGHEST_SET 3
#else
#define TANDEM_HIGHEST_SET 4
#endif
#elif TANDEM_COMPILED_FOR_V3 && TANDEM_HIGHEST_SET < 3
#undef TANDEM_HIGHEST_SET
#define TANDEM_HIGHEST_SET 3
#endif

// Whether an .inl file with rules of pointwise ops defines anything else (ops/pointwise/define.hpp).
#ifndef TANDEM_DEFINES
#ifdef __CUDACC__
#define TANDEM_DEFINES 0
#else
#define TANDEM_DEFINES 1
#endif
#endif

// always_inline at -O0 too: an out-of-line rule would pass packs by a calling convention other than the kernel's.
// TANDEM_HD_CALL is for large ones: in CUDA a function that kernels call, because ptxas takes minutes for a copy of it
// in each of them.
#ifdef __CUDACC__
#define TANDEM_HD __host__ __device__ __forceinline__
#define TANDEM_HD_CALL inline __host__ __device__ __noinline__
#else
#define TANDEM_HD inline __attribute__((always_inline))
#define TANDEM_HD_CALL TANDEM_HD
#endif

// TANDEM_CUDA(fn): the CUDA kernel in an op's definition. Only the compiled library can have one.
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
#define TANDEM_CUDA(fn) (fn)
#else
#define TANDEM_CUDA(fn) nullptr
#endif

// TANDEM_VIRTUAL(object, Class::function)(arguments): a virtual call that g++ does not prepare to devirtualize. For
// object.function() it compiles every override, with all that they reach, even if a program makes none of the objects;
// in header-only mode that costs more than the program itself. Through a pointer to member, the machine code is the
// same.
#define TANDEM_VIRTUAL(object, member) ((object).*&member)
// For a function that deletes an object by its base class, which has the same effect and no other spelling.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TANDEM_NO_DEVIRTUALIZE __attribute__((optimize("no-devirtualize")))
#else
#define TANDEM_NO_DEVIRTUALIZE
#endif

#define TANDEM_JOIN_(a, b) a##b
#define TANDEM_JOIN(a, b) TANDEM_JOIN_(a, b)
#define TANDEM_STRINGIFY_(x) #x
#define TANDEM_STRINGIFY(x) TANDEM_STRINGIFY_(x)

// The configuration's inline namespace. The tag is part of signatures and return types, so that the modes
// cannot be mixed unnoticed.
namespace tandem {
inline namespace TANDEM_MODE __attribute__((abi_tag("tandem_" TANDEM_STRINGIFY(TANDEM_MODE)))) {}
}  // namespace tandem
#define TANDEM_NS tandem::inline TANDEM_MODE
