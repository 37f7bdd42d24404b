// Version, visibility, and the two modes (compiled, header-only). No other header decides anything about modes.
#pragma once

#define TANDEM_VERSION_MAJOR 0
#define TANDEM_VERSION_MINOR 1
#define TANDEM_VERSION_PATCH 0

#define TANDEM_API __attribute__((visibility("default")))

// One guard per family of definitions. In compiled mode src/*.cpp defines one guard each; header-only mode defines all.
#if defined(TANDEM_HEADER_ONLY) && TANDEM_HEADER_ONLY
#define TANDEM_MODE header_only
#define TANDEM_INLINE inline
#define TANDEM_IMPLEMENT_CORE 1
#define TANDEM_IMPLEMENT_CPU 1
#define TANDEM_IMPLEMENT_POINTWISE 1
#define TANDEM_IMPLEMENT_ARITH 1
#define TANDEM_IMPLEMENT_EXP 1
#define TANDEM_IMPLEMENT_TRIG 1
#define TANDEM_IMPLEMENT_COMPARE 1
#define TANDEM_IMPLEMENT_SPECIAL 1
#define TANDEM_IMPLEMENT_BITWISE 1
#define TANDEM_IMPLEMENT_ACTIVATION 1
#define TANDEM_IMPLEMENT_REDUCE 1
#define TANDEM_IMPLEMENT_SHAPE 1
#define TANDEM_IMPLEMENT_INDEX 1
#define TANDEM_IMPLEMENT_LINALG 1
#define TANDEM_IMPLEMENT_NN_OPS 1
#define TANDEM_IMPLEMENT_CREATE 1
#define TANDEM_IMPLEMENT_CAST 1
#define TANDEM_IMPLEMENT_RANDOM 1
#define TANDEM_IMPLEMENT_RNN 1
#define TANDEM_IMPLEMENT_DEBUG 1
#define TANDEM_IMPLEMENT_AUTODIFF 1
#define TANDEM_IMPLEMENT_GRAPH 1
#define TANDEM_IMPLEMENT_SERIALIZE 1
#define TANDEM_IMPLEMENT_LAYERS 1
#define TANDEM_IMPLEMENT_OPTIM 1
#define TANDEM_IMPLEMENT_IO 1
#define TANDEM_IMPLEMENT_GRAPH_FILE 1
#define TANDEM_IMPLEMENT_TRAIN 1
#define TANDEM_IMPLEMENT_CUDA 1
#else
#define TANDEM_MODE compiled
#define TANDEM_INLINE
#endif

// always_inline at -O0 too: an out-of-line rule would pass packs by another calling convention than the kernel's.
#ifdef __CUDACC__
#define TANDEM_HD __host__ __device__ __forceinline__
#else
#define TANDEM_HD inline __attribute__((always_inline))
#endif

// TANDEM_CUDA(fn): the CUDA column of an op's row. Only the compiled library can have one.
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
#define TANDEM_CUDA(fn) (fn)
#else
#define TANDEM_CUDA(fn) nullptr
#endif

#define TANDEM_STRINGIFY_(x) #x
#define TANDEM_STRINGIFY(x) TANDEM_STRINGIFY_(x)

// The configuration's inline namespace. The tag reaches signatures and return types, so the modes cannot be mixed
// unseen.
namespace tandem {
inline namespace TANDEM_MODE __attribute__((abi_tag("tandem_" TANDEM_STRINGIFY(TANDEM_MODE)))) {}
}  // namespace tandem
#define TANDEM_NS tandem::inline TANDEM_MODE
