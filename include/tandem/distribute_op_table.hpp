// The table of all ops of the core and of tandem::distribute, for loaders: parse_graph(bytes, {.ops =
// distribute::all_ops()}). Not in the umbrella header, as op_table.hpp.
#pragma once
#include "tandem/distribute.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/op_table.hpp"

namespace TANDEM_NS::distribute {

namespace impl {
inline constexpr auto op_table = tandem::detail::join(tandem::detail::op_table, tandem::detail::rows_of(collective_ops),
                                                      tandem::detail::rows_of(bucket_ops));
}  // namespace impl

/// Returns every op of the core and of this component.
inline Span<const OpDef* const> all_ops() { return impl::op_table; }

}  // namespace TANDEM_NS::distribute
