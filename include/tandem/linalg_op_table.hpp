// The table of all ops of the core and of tandem::linalg, for loaders: parse_graph(bytes, {.ops = linalg::all_ops()}).
// Not in the umbrella header, as op_table.hpp.
#pragma once
#include "tandem/linalg.hpp"
#include "tandem/op_table.hpp"

namespace TANDEM_NS::linalg {

namespace impl {
inline constexpr auto op_table = tandem::detail::join(
    tandem::detail::op_table, tandem::detail::rows_of(linalg_solve_ops), tandem::detail::rows_of(linalg_qr_ops),
    tandem::detail::rows_of(linalg_eigen_ops), tandem::detail::rows_of(linalg_svd_ops),
    tandem::detail::rows_of(linalg_det_ops), tandem::detail::rows_of(linalg_expm_ops));
}  // namespace impl

/// Returns every op of the core and of this component.
inline Span<const OpDef* const> all_ops() { return impl::op_table; }

}  // namespace TANDEM_NS::linalg
