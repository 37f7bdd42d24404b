// The intrinsics that the kernels use, included before the first target region.
// g++'s <immintrin.h> is mostly AVX-512 and costs a third of a second in every header-only program. Where no kernel
// of that set is built, only its parts up to AVX2 are included, under its name; a program that includes
// <immintrin.h> as well gets the rest from it.
#pragma once
#include "tandem/config.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__) && TANDEM_HIGHEST_SET < 4 && !defined(_IMMINTRIN_H_INCLUDED) && \
    __has_include(<avxintrin.h>) && __has_include(<avx2intrin.h>) && __has_include(<fmaintrin.h>) && \
    __has_include(<f16cintrin.h>)
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
// In the order of <immintrin.h>.
// clang-format off
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
// clang-format on
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif
#endif
