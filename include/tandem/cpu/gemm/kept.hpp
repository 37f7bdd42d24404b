// Products whose right operand is the value of a Variable: its panels are packed once and kept with the value.
#pragma once
#include <type_traits>

#include "tandem/core/kernel.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/simd/isa.hpp"

namespace TANDEM_NS::cpu {

/// The rows of a product from which on it copies B to panels although it could read B's rows.
inline constexpr i64 worth_packing = 128;

/// Sets g.packed_b if `kept` (may be null) has the panels of B and the product would pack B otherwise.
template <class T>
void take_packed_b(Gemm<T>& g, PackedForms* kept) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (!kept || g.m < 2 || g.n < 2 || !(g.transpose_b || g.m >= worth_packing)) return;
    const PackedKey key{{i64(PackedLayout::product), isa(), g.transpose_b, g.k, g.n}};
    const auto bytes = static_cast<std::size_t>(packed_b_size<T>(g.k, g.n)) * sizeof(T);
    g.packed_b =
        static_cast<const T*>(kept->get(key, static_cast<std::size_t>(g.k * g.n) * sizeof(T), bytes, [&](void* room) {
          pack_b(g.b, g.ldb, g.transpose_b, g.k, g.n, static_cast<T*>(room));
        }));
  }
}

}  // namespace TANDEM_NS::cpu
